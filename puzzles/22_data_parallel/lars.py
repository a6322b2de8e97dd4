"""lars: a rate of its own for each layer.

    lars(weights, gradients, velocities, rate, momentum, decay, trust)
        -> (new weights, new velocities)

    weights, gradients, velocities
                      lists of float64 arrays, one for each parameter;
                      leave them as they are
    rate, momentum, decay, trust
                      numbers

With w, g and v of one parameter, and the norm ||.|| of all its numbers:

    local = trust ||w|| / (||g|| + decay ||w||)
    v <- momentum v + rate local (g + decay w)
    w <- w - v

All numbers are finite, and so are the squares of norms. Where ||w|| or
||g|| is 0, local is 1. A parameter with fewer than two
dimensions, such as a bias, has local = 1 and no decay.
"""

import numpy as np


def lars(weights, gradients, velocities, rate, momentum, decay, trust):
    # your code here (about 12 lines)
    pass
