"""find_the_faulty_rank: who keeps all waiting, and whose bit flipped.

    find_the_faulty_rank(arrived, left, own, sizes, result, least)
        -> a dict

    arrived  float64 (steps, ranks): at which second each rank came to
             the all-reduce of a step, by its own clock
    left     when it left the all-reduce again, by the same clock; the
             clocks of two ranks may be far apart
    own      float64 (steps, ranks): the sum of all numbers of a rank's
             gradient, before the all-reduce
    sizes    the same of their absolute values
    result   the sum of all numbers that a rank has after the all-reduce
    least    seconds, above 0

"slow": a list of the ranks that keep the others waiting, rising. A rank
is slow if, in more than half of the steps, it waits in the all-reduce
by `least` or more less than the median of all ranks in that step.

"corrupt": a list of (step, rank), by step, then by rank. After the
all-reduce all ranks have the same. In each step more than half of them
do have one value (NaN is the same as NaN): a rank with another one is
corrupt. And the value of most is the sum of `own` of all ranks, but for
rounding: where it differs by more than 1e-12 times the sum of `sizes`,
the reduction itself was corrupt, and (step, None) comes behind the
ranks of that step. Where the sum of `own` is NaN or infinite, as when a
gradient overflows, no value is held against it.

A sound run is sound: no rank is slow or corrupt because of its clock,
of rounding, or of a pause now and then. There may be no step at all.
"""

import numpy as np


def find_the_faulty_rank(arrived, left, own, sizes, result, least):
    # your code here (about 17 lines)
    pass
