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
    # answer
    own = {
        tensor.untyped_storage().data_ptr() for tensor in [*layer.parameters(), *layer.buffers()]
    }
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    kept = sum(storage.nbytes() for storage in storages.values())
    # end answer
    return kept
