"""find_the_spike: where the loss jumps, and where a run becomes slow.

    find_the_spike(losses, norms, rates, window, least) -> a dict

    losses  list of floats, one for each step
    norms   list of as many: of the gradient; it jumps with the loss
    rates   list of as many: TFLOP/s of a GPU
    window  how many steps a step is compared with, 2 or more
    least   by how many TFLOP/s a run has to become slower; above 0

"spikes": where the training got out of step. A step whose loss or norm
is NaN or infinite is a spike. Any other is one if BOTH its loss and its
norm are high, each among its own values of the `window` last steps
before it that are no spikes themselves: let m be the median of these,
and d the median of their distances from m; high is a value above
m + 6 * max(d, m / 100). Where fewer than `window` such steps have come,
nothing is high. Steps that follow each other are one spike: return a
list of (first step, last step), in order.

"slower": where a node became slow and stayed so. Leave out the steps
whose rate is NaN, and of the others compare, at each step that has
`window` before it and, itself included, `window` from it on, the two
medians. Return the step (as it is numbered in `rates`) at which the
median falls most; of several the one at which the sum falls most too,
then the first; and None where no median falls by `least` or more.

Losses and norms are above 0 where they are finite; rates are finite or
NaN. There may be few steps, or none. The median of an even number of
values is the mean of the two in the middle.
"""

from math import isfinite, isnan
from statistics import median


def find_the_spike(losses, norms, rates, window, least):
    # your code here (about 26 lines)
    pass
