"""row_linear: a linear layer whose inputs are shared out.

    row_forward(x, weight, bias) -> y
    row_backward(dy, x, weight) -> (dx, dweight, dbias)

    x       float64 (tokens, own): this rank's columns of the input
    weight  float64 (out, own): the columns that belong to them
    bias    float64 (out,): whole, the same on every rank
    y       float64 (tokens, out): the whole result on every rank
    dy      float64 (tokens, out): the gradient of y, the same on every
            rank
    dx      like x, this rank's columns; dweight and dbias like weight
            and bias, dbias the same on every rank

The whole layer is y = x @ weight.T + bias, with the parts of all ranks
side by side.

All numbers are finite. A rank may have no input at all.

This runs on every rank at the same time. Leave what you are given as
it is. Measured: the bytes that each rank sends, in each pass.
"""

import torch
import torch.distributed as dist


def row_forward(x, weight, bias):
    # your code here (about 3 lines)
    pass


def row_backward(dy, x, weight):
    # your code here (about 1 line)
    pass
