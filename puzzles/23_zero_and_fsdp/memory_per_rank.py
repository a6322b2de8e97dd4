"""memory_per_rank: bytes on the fullest rank, in each stage.

    memory_per_rank(units, ranks, stage, bucket) -> bytes

    units   list: how many parameters each unit has, 1 or more, in the
            order of the model
    ranks   how many there are
    stage   0: all is everywhere; 1: the states are cut; 2: and the
            gradients; 3: and the weights
    bucket  gradients that stage 2 collects before it reduces them; it
            may be larger than the model

A weight takes 2 bytes, its gradient 2, and its states 12: a copy of the
weight in float32 and Adam's two moments. All slices of a cut have the
same length, rounded up. In stages 1 and 2 the model is cut as one
piece, in stage 3 each unit by itself.

While a step runs there is more. Stage 2 has a bucket of gradients, of
all parameters at most. Stage 3 has two whole units that follow each
other, the one in use and the next, or one where it is the only one; and
a whole gradient. A whole unit is put together of its slices. Count the
largest pair and the largest gradient. With one rank nothing is sent,
and there is no buffer.
"""


def memory_per_rank(units, ranks, stage, bucket):
    # your code here (about 12 lines)
    pass
