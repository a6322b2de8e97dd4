"""interleaved: more than one stage on a rank.

    interleaved(ranks, microbatches, chunks) -> a list of orders

    ranks         how many there are
    microbatches  how many there are, a multiple of `ranks`
    chunks        how many stages each rank holds, at least one

There are ranks * chunks stages, and rank r holds stages r, r + ranks,
r + 2 * ranks and so on. Return a list with an order for each rank, each
a list of actions:

    "2F5"    the forward pass of microbatch 5 through stage 2
    "2B5"    its backward pass

A forward pass takes 1 / chunks and a backward pass 2 / chunks. What a
pass needs is as before, and what a rank sends arrives at once. The
whole may take 3 * (microbatches + (ranks - 1) / chunks). Counted per
stage, rank r may hold the activations of

    2 * (ranks - r - 1) + (chunks - 1) * ranks + 1

microbatches at a time, and never needs more than there are. Any orders
that keep to all this will do.
"""


def interleaved(ranks, microbatches, chunks):
    # your code here (about 18 lines)
    pass
