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
    # answer
    new_weights, new_velocities = [], []
    for w, g, v in zip(weights, gradients, velocities, strict=True):
        local, own_decay = 1.0, 0.0
        if w.ndim > 1:
            own_decay = decay
            length, slope = np.linalg.norm(w), np.linalg.norm(g)
            if length > 0 and slope > 0:
                local = trust * length / (slope + decay * length)
        v = momentum * v + rate * local * (g + own_decay * w)
        new_velocities.append(v)
        new_weights.append(w - v)
    return new_weights, new_velocities
    # end answer
