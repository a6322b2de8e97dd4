"""gpipe_order: fill the pipeline, then drain it.

    gpipe_order(ranks, microbatches) -> a list of orders

    ranks         how many there are; rank r holds stage r
    microbatches  how many there are, at least one

Return a list with an order for each rank, and each order is a list of
actions in the order in which the rank does them. An action is a string:

    "2F5"    the forward pass of microbatch 5 through stage 2
    "2B5"    its backward pass

A rank does all its forward passes before its first backward pass. The
forward pass of a stage needs that of the stage before it, and the
backward pass needs its own forward pass and the backward pass of the
stage after it. What a rank sends arrives at once. A forward pass takes
1 and a backward pass 2: the whole may take 3 * (microbatches + ranks -
1), and any order of actions that keeps to all this will do.
"""


def gpipe_order(ranks, microbatches):
    # your code here (about 6 lines)
    pass
