"""lamb: Adam's direction, and each layer's own length.

    lamb(weights, gradients, firsts, seconds, step, rate, beta1, beta2,
         epsilon, decay) -> (new weights, new firsts, new seconds)

    weights, gradients, firsts, seconds
                    lists of float64 arrays, one for each parameter;
                    leave them as they are
    step            number of this step; the first one is 1
    the others      numbers. All are finite, and so are the squares of
                    norms

With w, g, m and v of one parameter, number by number:

    m <- beta1 m + (1 - beta1) g
    v <- beta2 v + (1 - beta2) g g
    u = (m / (1 - beta1 ** step))
        / (sqrt(v / (1 - beta2 ** step)) + epsilon) + decay w

and with the norm ||.|| of all numbers of the parameter:

    ratio = ||w|| / ||u||,  or 1 where one of the two norms is 0
    w <- w - rate ratio u
"""

import numpy as np


def lamb(
    weights,
    gradients,
    firsts,
    seconds,
    step,
    rate,
    beta1,
    beta2,
    epsilon,
    decay,
):
    # your code here (about 11 lines)
    pass
