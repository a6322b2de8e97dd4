"""zero3: forward and backward over units that lie in slices.

    zero3(units, shards, x) -> [slice of the gradient of each unit]

    units   list of parts of a model, the first one first:
              unit.length                          its weights
              unit.forward(weights, x) -> y        y is the next x
              unit.backward(weights, x, gradient)
                -> (gradient of x, gradient of weights)
            where x is what went in, and `gradient` is that of y. The
            last y is the loss of this rank's batch; its own gradient
            is torch.ones(()). The first x has no gradient: None
    shards  shards[k]: float64, this rank's slice of the weights of unit
            k. All slices of a unit are equally long; the last ones end
            with zeros where n does not divide the length
    x       what goes into the first unit

This runs on n ranks at the same time. Return, in the order of units,
this rank's slice of the mean gradient, as long as shards[k]. All
numbers are finite.

Measured: your calls may carry 3 (n - 1) times what a rank's slices have
together. As a unit is used, whole weights may be alive of itself and of
the one that is used next, and that one's gather must be under way; on
the way back also one whole gradient. Keep each unit's x.
"""

import torch
import torch.distributed as dist
from torch.nn import functional


def zero3(units, shards, x):
    n = dist.get_world_size()

    # your code here (about 26 lines)
