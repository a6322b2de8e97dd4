"""zigzag_assign: which tokens a rank holds so that all have equal work.

    zigzag(length, ranks) -> places

    length   tokens of the sequence; it may be less than the ranks
    ranks    n
    places   list with an int64 array for each rank: the places of its
             tokens, in the order in which the rank holds them

The sequence is cut into 2n chunks as numpy.array_split cuts: where 2n
does not divide the length, the first chunks have one token more. Rank r
gets chunk r and, after it, chunk 2n - 1 - r.

    restore(parts, length) -> whole

    parts    list with an array for each rank: something for each of its
             tokens, (tokens,) or (tokens, width), in the order above; a
             rank may have none
    whole    array: the same in the order of the sequence
"""

import numpy as np


def zigzag(length, ranks):
    # your code here (about 2 lines)
    return None


def restore(parts, length):
    # your code here (about 4 lines)
    return None
