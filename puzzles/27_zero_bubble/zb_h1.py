"""zb_h1: W where a bubble was.

    zb_h1(ranks, microbatches) -> a list of orders

    ranks         how many there are; rank r holds stage r
    microbatches  how many there are, at least as many as ranks

The backward pass is taken apart: I is the gradient to the stage's
input, for which the stage before waits, and W those of the weights, for
which nobody waits. Return a list with an order for each rank, each a
list of actions:

    "2F5"    the forward pass of microbatch 5 through stage 2
    "2I5"    the gradient to its input; needs 2F5, and 3I5 if there is
             a stage 3
    "2W5"    the gradients of the stage's weights; needs 2I5

Each takes 1, and what a rank sends arrives at once. A microbatch is
held on a rank from its F to its W, and no rank may hold more than
`ranks`. From its first start to its last end no rank may take longer
than 3 * microbatches + ranks - 1: a third of the bubble of 1F1B. Any
orders that keep to all this will do.
"""


def zb_h1(ranks, microbatches):
    # your code here (about 13 lines)
    pass
