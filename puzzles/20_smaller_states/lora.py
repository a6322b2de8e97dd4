"""lora: a trained detour of low rank beside a frozen linear layer.

    lora(linear, rank, alpha) -> torch.nn.Module

    linear   a torch.nn.Linear that has been trained: weight (out, in),
             bias (out,), all of it finite
    rank     of the detour: 1 or more
    alpha    how much it weighs, above 0

Return a module with two parameters A, (rank, in), and B, (out, rank),
in the dtype of the layer. For x of (rows, in), finite and of one row or
more, it gives linear(x) + alpha / rank * (x times A times B, both
transposed). A and B are trained and nothing else. At the start it
gives what the layer gives, and yet it can learn: one of the two begins
with random numbers, of full rank and with a root mean square between
0.001 and 10.

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
