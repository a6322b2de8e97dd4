"""imbalance: what each rank computes in a causal ring, and who waits.

    work(places) -> scores

    places  list with an int64 array for each of n ranks: the places of
            its tokens in the sequence, in any order
    scores  list of n lists of n whole numbers: scores[r][t] is how many
            scores rank r computes in round t, when it holds the keys of
            rank (r - t) % n. A query sees its own place and all before.

    bound(scores) -> share

    scores  as work gives it
    share   between 0 and 1: the part of their time in which the ranks
            compute, all taken together, where every score takes equally
            long and a round ends for all when the last rank is through

Sequences have up to half a million tokens: count without looking at
each pair. A rank may hold no token at all; some score is above 0.
"""

import numpy as np


def work(places):
    n = len(places)
    # your code here (about 5 lines)
    return None


def bound(scores):
    # your code here (about 2 lines)
    return None
