"""bytes_saved: what crosses, and how rarely ranks have to meet.

    bytes_saved(parameters, ranks, h, width, block, link, step_s, goal)
        -> (dp, diloco, fewest)

    parameters  of the model
    ranks       on a ring of links that are all alike
    h           inner steps in a round of DiLoCo
    width       bytes of each number of an outer gradient: 4, 2 or 1
    block       so many numbers share a float32 scale that is sent with
                them; the last block may have fewer. 0 for no scales
    link        {"latency_s": before a message's first byte arrives,
                 "bytes_per_s": after that}
    step_s      seconds of an inner step
    goal        the share of the time in which a rank is to compute

Return three numbers:

    dp      bytes that a rank sends in a step of data parallelism, for
            an all-reduce of float32 gradients in a ring
    diloco  bytes that it sends for an outer gradient, for each inner
            step; not rounded
    fewest  the smallest h, an int of 1 or more, with which ranks spend
            at least the share goal of a round computing: nobody
            computes while the outer gradient is on its way

An all-reduce in a ring of n ranks takes 2 (n - 1) messages from each,
one after the other; each carries an n-th of all bytes, scales included.
One rank sends nothing.

Raise ValueError where goal is NaN or not between 0 and 1 (both of which
cannot be a goal), where the link carries nothing, or where ranks or h
is below 1.
"""

import math


def bytes_saved(
    parameters,
    ranks,
    h,
    width,
    block,
    link,
    step_s,
    goal,
):
    # your code here (about 13 lines)
    pass
