"""shared_layers: a stack of layers that all have the same parameters.

    shared_layers(make_layer, layers) -> torch.nn.Module

    make_layer   make_layer() returns a new layer, a torch.nn.Module
                 that maps (rows, width) to (rows, width), finite
                 numbers to finite numbers
    layers       how many layers the stack is to have: 1 or more

Return a module that sends a batch through `layers` layers, one after
the other, and has the parameters of one.

Measured: output and gradient; bytes of the parameters; bytes of the
moments that Adam keeps for them; bytes kept for the backward pass,
which are those of a stack of separate layers.
"""

import torch


def shared_layers(make_layer, layers):
    stack = None

    # your code here (about 9 lines)
    return stack
