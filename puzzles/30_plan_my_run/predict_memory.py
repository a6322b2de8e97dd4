"""predict_memory: bytes of a GPU, for each stage of a layout.

    state_bytes(model, layout, stage) -> a number
    activation_bytes(model, layout, batch, stage) -> a number
    predict_memory(model, layout, batch) -> a list of numbers

    model   dict: layers, hidden (h); heads (a), kv_heads (k) and
            head_size (e); mlp (f), numbers inside the MLP or inside one
            expert, and matrices, 2 or 3 of h by f; experts and top_k,
            both 0 where there is one MLP and no router; vocabulary (V);
            tied, True where embedding and head are one table
    layout  dict: dp, tp, ep; sp, True or False; zero, 0 to 3;
            recompute, "none", "selective" or "full"; stages, a list:
            how many layers each stage of the pipeline has
    batch   dict: sequences of a step, microbatch, how many of them go
            through together (b), and sequence, tokens of one (s)
    stage   of the pipeline, from 0
    return  bytes that one GPU of the stage holds: of weights, gradients
            and optimizer, and of activations. predict_memory gives the
            sum of both, for each stage

States. A layer has h (2ae + 2ke) weights of attention, `matrices` of
h f in its MLP or in each expert, h to a router's expert, and 2 norms of
h. The first stage has the embedding, V h, and the last one a norm of h
and the head, V h. Where one stage is both, a tied table is there once.
tp divides attention, MLPs, experts and tables; routers and norms are
whole on each GPU. A GPU has experts / ep of the experts. Each weight
takes 2 bytes, its gradient 4, what the optimizer holds 12. ZeRO 1
divides those 12 among the dp replicas, ZeRO 2 the gradients too, and
ZeRO 3 the weights too. An expert has only dp / ep replicas.

Activations, bytes of a layer for each token of a microbatch:
    10 h                      whole; over tp where sp is True
    2 (2ae + 2ke)             over tp
    2 matrices f              over tp, and top_k times with experts
    5 a s                     over tp; not kept with "selective"
With "full" it is 2 h alone, whole. With 1F1B, stage i of p holds this
for p - i microbatches at once (i from 0), and for no more than a
replica has. The first stage holds h more for each token of these, as
the 10 h are held. The last stage holds 4 h more, held alike, and 4 V
over tp, for the tokens of one microbatch.

predict_memory raises ValueError for a layout that cannot be: something
below 1, another word or number than those above, a stage without a
layer, stages that together are not all layers; tp that does not divide
heads, kv_heads, mlp and vocabulary, or with sp the sequence; ep that
does not divide experts and dp; dp times microbatch that does not divide
the sequences. Without experts ep is 1.
"""


def state_bytes(model, layout, stage):
    """Returns the bytes of weights, gradients and optimizer."""
    # your code here (about 26 lines)


def activation_bytes(model, layout, batch, stage):
    """Returns the bytes of activations."""
    # your code here (about 21 lines)


def predict_memory(model, layout, batch):
    # your code here (about 24 lines)
    pass
