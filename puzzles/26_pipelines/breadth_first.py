"""breadth_first: each stage once each way.

    breadth_first(ranks, microbatches, chunks) -> a list of orders

    ranks         how many there are
    microbatches  how many there are, at least as many as ranks
    chunks        how many stages each rank holds, at least one

There are ranks * chunks stages, and rank r holds stages r, r + ranks,
r + 2 * ranks and so on. Return a list with an order for each rank, each
a list of actions:

    "2F5"    the forward pass of microbatch 5 through stage 2
    "2B5"    its backward pass

Each rank turns to each of its stages once for all forward passes and
once for all backward passes. A forward pass takes 1 / chunks and a
backward pass 2 / chunks. What a pass needs is as before, and what a
rank sends arrives at once. The whole may take 3 * (microbatches +
(ranks - 1) / chunks), with whatever is held. Any orders that keep to
all this will do.
"""


def breadth_first(ranks, microbatches, chunks):
    # your code here (about 10 lines)
    pass
