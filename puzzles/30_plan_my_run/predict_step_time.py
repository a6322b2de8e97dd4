"""predict_step_time: the seconds of a step, part by part.

    stage_flop(model, layout, batch, stage) -> a number
    all_reduce_seconds(size_bytes, ranks, apart, machine) -> a number
    predict_step_time(model, layout, batch, machine) -> a dict

    model    dict, as in predict_memory; it has no experts here
    layout   dict: dp, tp, zero, recompute and stages, as there
    batch    dict: sequences, microbatch (b), sequence (s), as there
    machine  dict: flop_per_s of a GPU in large products; node, GPUs of
             a node; link_bytes_per_s, what a GPU sends to others of its
             node; card_bytes_per_s, what it sends through its network
             card; host_s, what the host needs at least for one layer
             and microbatch, forward and backward

stage_flop: of one microbatch, both passes, all tp GPUs together. A
token takes 2 FLOP for each weight of a layer's matrices and of the
head, which the last stage has, and 4 a e s for a layer's scores. The
backward pass takes twice that. "selective" runs the scores forward once
more, "full" the layers, but not the head.

all_reduce_seconds: of `size_bytes` on each of `ranks` GPUs, `apart`
ranks from one to the next. Each sends 2 (n - 1) / n of its bytes. Take
the group of rank 0. If it is in one node, which begins with rank 0, it
uses links. Otherwise node // apart of its GPUs share a node, at least
one. They send through as many cards, and never faster than through a
link.

predict_step_time: seconds under these names, and "step", their sum. m
is how many microbatches a replica has, p how many stages. The ranks of
tp are side by side, those of dp tp apart, and stages tp dp apart.
    compute  m times the FLOP of the slowest stage on its tp GPUs
    tp       m times its all-reduces of 2 h bytes a token: in each layer
             two forward, two backward, and with "full" two more
    host     m times what is missing to host_s for each of its layers
    bubble   p - 1 times all of these for one microbatch
    pp       m + p - 1 times two sends: a stage's 2 h bytes a token, a
             tp-th from each GPU; by link if all p stages are in one
             node, else by card; 0 for one stage
    dp       of the stage with the most weights on a GPU: 4 bytes of
             gradient for each through an all-reduce over dp. With ZeRO
             1 and 2 it is half of one, and half of one for the weights,
             2 bytes each; with ZeRO 3 half of one, and two halves for
             the weights in each microbatch
The slowest stage has most seconds of compute, tp and host; among equals
it has most compute. For dp, weights are matrices and tables, and
embedding and head are two.
"""


def stage_flop(model, layout, batch, stage):
    # your code here (about 13 lines)
    pass


def layer_weights(model):
    """Returns the weights in the matrices of a layer."""
    # your code here (about 3 lines)


def all_reduce_seconds(size_bytes, ranks, apart, machine):
    # your code here (about 7 lines)
    pass


def predict_step_time(model, layout, batch, machine):
    # your code here (about 30 lines)
    pass
