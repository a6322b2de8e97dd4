"""dualpipe: two pipelines in opposite directions.

    dualpipe(ranks, microbatches) -> a list of orders

    ranks         how many there are, an even number
    microbatches  how many there are, an even number, at least 2 * ranks

The first half of the microbatches goes down, through stages 0, 1, ...
to ranks - 1, the second half up, through stages ranks, ... to
2 * ranks - 1. Rank r holds stage r of the way down and stage
2 * ranks - 1 - r of the way up, a copy of stage ranks - 1 - r: the two
ways begin at opposite ends. Return a list with an order for each
rank, each a list of actions:

    "2F5"       the forward pass of microbatch 5 through stage 2
    "2B5"       its whole backward pass; in its place may stand
    "2I5"       the gradient to the stage's input, and after it
    "2W5"       the gradients of its weights
    "2F5&13B9"  an F and a B of another microbatch, done together:
                begun when both can be, sent on when both are done

F, I and W take 1 each, B takes 2, and F&B takes 3, but the messages of
each hide behind the computing of the other. So each rank does at least
microbatches - 3 * ranks / 2 such pairs. A microbatch is held on a rank
from its F to its B or W, and a rank may hold ranks + 1. From its first
start to its last end no rank may take longer than
3 * microbatches + ranks - 2. Any orders that keep to all this will do.
"""


def dualpipe(ranks, microbatches):
    # your code here (about 34 lines)
    pass
