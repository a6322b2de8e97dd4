"""k_directions: an average over directions at right angles.

    k_directions(loss, point, normals) -> estimate

    loss      loss(point) is a number
    point     float64 (d,)
    normals   float64 (k, d), normal numbers; k is from 1 to d

Turn the rows of `normals` into k directions at right angles that span
the same space, of a length for which the estimate is right on average,
and return the average of the k forward gradients. With k = d it is the
gradient itself.

Measured: the estimate, which is the same for any directions at right
angles that span that space; the bytes alive at one time, which leave no
room for the activations of a backward pass.
"""

import torch


def k_directions(loss, point, normals):
    estimate = torch.zeros_like(point)
    # your code here (about 5 lines)
    return estimate
