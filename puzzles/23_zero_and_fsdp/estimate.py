"""estimate: what DeepSpeed says ZeRO 2 and 3 will need.

    estimate(stage, parameters, largest, gpus, nodes, offload)
        -> (bytes on the host of a node, bytes on each GPU)

    stage       2 or 3
    parameters  of the model
    largest     of its largest layer
    gpus        of each node
    nodes       how many
    offload     "nothing"; "optimizer": the states lie on the hosts; or,
                in stage 3 alone, "all": the 16-bit weights as well

For each parameter there are 2 bytes of weight and 2 of gradient in 16
bits, and in float32 the states: weight, gradient and two moments. What
is cut is cut over all GPUs.

On a GPU. Stage 2: all 16-bit weights; 16-bit gradients and states are
cut, and with offload none of them counts. Stage 3: the 16-bit weights
and gradient of the largest layer, whole; the 16-bit weights of all and
the states are cut; 16-bit gradients do not count.

On a host, all times 1.5. With "nothing" each GPU's process makes the
model in float32 first: in stage 2 all of it, in stage 3 no more than
the largest layer. Else stage 3: what is offloaded, shared by the nodes.
Stage 2: the states of all parameters, not shared; or a whole model in
float32 for every GPU of all nodes, if that is more.

Return whole numbers: each is added up first, and then rounded down. All
that you are given is at least 1, and nothing need divide anything.
"""


def estimate(stage, parameters, largest, gpus, nodes, offload):
    # your code here (about 18 lines)
    pass
