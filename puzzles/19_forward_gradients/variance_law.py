"""variance_law: how far forward gradients are from the gradient.

    variance_law(gradient, k, directions) -> float

    gradient     list of d finite floats, any of them 0; d is 1 or more
    k            estimates in the average
    directions   "normal"        independent normal numbers with mean 0
                                 and variance 1
                 "signs"         independent, each 1 or -1
                 "right angles"  k vectors of length sqrt(d) at right
                                 angles, otherwise random; k <= d

An estimate is (g.v) v. Return the mean, over all directions, of the
squared distance between the average of k estimates and the gradient g:
the trace of its covariance.

Measured: the number, against the exact covariance.
"""


def variance_law(gradient, k, directions):
    variance = 0.0
    # your code here (about 8 lines)
    return variance
