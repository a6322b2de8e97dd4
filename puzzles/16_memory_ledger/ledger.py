"""ledger: what a module keeps for its backward pass.

    ledger(layer, x) -> int

    layer   a torch.nn.Module in training mode, on the CPU
    x       the batch it is called with, of one row or more, floats or
            whole numbers; `layer(x)` is its forward pass

Return the bytes of all storages that the forward pass saves for the
backward pass. A storage counts once, as a whole, whichever views of it
were saved and how often. Parameters and buffers don't count, since they
are there anyway. A layer may have none. The batch counts if it is
saved. What numbers stand in it makes no difference.

Measured: eleven kinds of modules, from two linear layers to a
transformer layer, in 32 and 16 bit.
"""

import torch


def ledger(layer, x):
    kept = 0
    # your code here (about 12 lines)
    return kept
