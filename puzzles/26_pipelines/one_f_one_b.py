"""one_f_one_b: one forward, one backward, no more held than must be.

    one_f_one_b(ranks, microbatches) -> a list of orders

    ranks         how many there are; rank r holds stage r
    microbatches  how many there are, at least one

Return a list with an order for each rank, each a list of actions:

    "2F5"    the forward pass of microbatch 5 through stage 2
    "2B5"    its backward pass

The activations of a microbatch lie on a rank from its F to its B. Rank
r may hold those of min(ranks - r, microbatches) at a time. The forward
pass of a stage needs that of the stage before it, and the backward pass
needs its own forward pass and the backward pass of the stage after it.
What a rank sends arrives at once. A forward pass takes 1 and a backward
pass 2: the whole may take no longer than fill and drain does, 3 *
(microbatches + ranks - 1). Any orders that keep to all this will do.
"""


def one_f_one_b(ranks, microbatches):
    # your code here (about 10 lines)
    pass
