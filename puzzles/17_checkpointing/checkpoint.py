"""checkpoint: keep a stage's input alone, and run the stage again in
the backward pass.

    checkpoint(stage, x) -> y

    stage   a torch.nn.Module of one input and one output; it draws no
            random numbers
    x       its input, a float32 tensor of finite numbers that asks for
            a gradient

Return y = stage(x), computed without a graph. When the backward pass
reaches y, run the stage once more, with a graph this time, and go back
through it: the gradient of x is returned, and those of the stage's
parameters are added to their .grad. Build it as a
torch.autograd.Function of your own, without torch.utils.checkpoint. A
chain may have one stage in two places, and a .grad need not begin at 0.

Measured: every stage of a chain is called through your function.
Gradients are compared bit for bit with those of the plain run; forward
passes of each stage are counted (two, and no more); and so are the
bytes alive when the backward pass begins: the inputs of the stages, and
nothing else.
"""

import torch


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        # your code here (about 3 lines)
        pass

    @staticmethod
    def backward(ctx, gradient):
        # your code here (about 6 lines)
        pass


def checkpoint(stage, x):
    return Checkpoint.apply(stage, x)
