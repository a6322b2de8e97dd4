"""accumulate: a whole batch's gradient in the memory of a part.

    accumulate(model, loss, x, y, parts) -> None

    model   a torch.nn.Module; each row of the batch goes through it by
            itself
    loss    loss(model(x), y) is the mean over the rows of a batch
    x       the batch, float64 (rows, width)
    y       the targets, float64 (rows, 3)
    parts   how many microbatches to split it into: from 1 to as many
            as there are rows; it need not divide them

Leave in every parameter's .grad what loss(model(x), y).backward() would
have added to it. The gradients are there already, filled with zeros:
add to them, and don't set them to None. No update: the parameters stay
as they are.

Measured: the gradient, and the most bytes alive at one time above
model, gradients and batch. They may be a tenth more than a forward and
backward pass of the largest part takes, and beyond that a copy of the
part and a list of row numbers.
"""

import torch


def accumulate(model, loss, x, y, parts):
    # your code here (about 3 lines)
    pass
