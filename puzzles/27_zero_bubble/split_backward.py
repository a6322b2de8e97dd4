"""split_backward: cut the backward pass of a stage in two.

    forward(layers, x) -> (y, kept)
    input_gradient(kept, gradient) -> (gradient of x, left)
    weight_gradients(left) -> list of gradients

    layers    list of torch modules, each used once, in this order; each
              has all its parameters at its own output, or none
    x         (rows, width) float64, what the stage gets; it needs no
              gradient by itself
    y         what the last layer makes of it
    kept      whatever you need for the second call
    gradient  the gradient to y
    left      whatever you need for the third call

The first is F, the second I, the third W. The gradients of W come in
the order of the layers' parameters. Several microbatches are on their
way at a time: F of all, then I of all, then W, the last one first.

Measured: the FLOP of matrix products in each call, and the bytes held
between them. Each linear layer has one product in F, one in I and one
in W, and no more: I leaves the weights alone, and W neither goes
through the layers nor runs them once more. Between I and W are held, of
each linear layer, its input and the gradient to its output.
"""

import torch
from torch.autograd.graph import get_gradient_edge


def forward(layers, x):
    # your code here (about 7 lines)
    pass


def input_gradient(kept, gradient):
    # your code here (about 8 lines)
    pass


def weight_gradients(left):
    # your code here (about 5 lines)
    pass
