"""lora: a trained detour of low rank beside a frozen linear layer.

    lora(linear, rank, alpha) -> torch.nn.Module

    linear   a torch.nn.Linear that has been trained: weight (out, in),
             bias (out,)
    rank     of the detour
    alpha    how much it weighs

Return a module with two parameters A, (rank, in), and B, (out, rank),
in the dtype of the layer. For x of (rows, in) it gives linear(x) +
alpha / rank * (x times A times B, both turned over). A and B are
trained and nothing else. At the start it gives what the layer gives,
and yet it can learn.

Measured: the output at the start; with other numbers in A and B the
output and the gradients of A, B and x; how many numbers are trained;
the bytes a forward pass takes, which leave no room for the product of B
and A.
"""

import torch


def lora(linear, rank, alpha):
    module = None

    # your code here (about 10 lines)
    return module
