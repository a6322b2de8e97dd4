"""Wrong answers to checkpoint that people give."""

import torch
from torch.utils.checkpoint import checkpoint as from_the_library


# over-budget, keeps-everything: The plain run: right, and it keeps everything.
def keeps_everything(stage, x):
    return stage(x)


class GraphInForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.start = x.detach().requires_grad_()
        with torch.enable_grad():
            ctx.y = stage(ctx.start)
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, gradient):
        ctx.y.backward(gradient)
        return None, ctx.start.grad


# over-budget, keeps-everything: Keeps the graph of the first run on ctx, so there is nothing to
# run again and nothing saved.
def graph_in_forward(stage, x):
    return GraphInForward.apply(stage, x)


class WithoutGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        ctx.stage(start).backward(gradient)
        return None, start.grad


# wrong-result, no-graph: Inside backward no graph is built unless it is asked for.
def recomputes_under_no_grad(stage, x):
    return WithoutGrad.apply(stage, x)


class InputAlone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        return None, torch.autograd.grad(y, start, gradient)[0]


# wrong-result, parameters-forgotten: The gradient of the input is right; the parameters get none.
def forgets_the_parameters(stage, x):
    return InputAlone.apply(stage, x)


class DetachedInput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach()
        with torch.enable_grad():
            ctx.stage(start).backward(gradient)
        return None, start.grad


# wrong-result, chain-cut: A detached input asks for no gradient, so there is none to return: the
# chain ends here.
def detaches_the_input(stage, x):
    return DetachedInput.apply(stage, x)


class Ones(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward(torch.ones_like(y))
        return None, start.grad


# wrong-result, incoming-gradient: The gradient that comes in is dropped, as if every stage were
# the loss.
def ignores_what_comes_in(stage, x):
    return Ones.apply(stage, x)


class FromNothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward()
        return None, start.grad


# wrong-result, nothing-to-start-from: Only a loss, a single number, can go back without being
# told from what.
def starts_from_nothing(stage, x):
    return FromNothing.apply(stage, x)


class HandedThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward(gradient)
        return None, start.grad


# wrong-result, other-output: The stage is left for the backward pass altogether.
def hands_x_through(stage, x):
    return HandedThrough.apply(stage, x)


class NoSecondPass(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            ctx.stage(start)
        return None, start.grad


# wrong-result, no-second-pass: Runs the stage again, and does not go back through it.
def never_goes_back(stage, x):
    return NoSecondPass.apply(stage, x)


class OneGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward(gradient)
        return start.grad


# wrong-result, one-per-argument: forward has two arguments.
def returns_one_gradient(stage, x):
    return OneGradient.apply(stage, x)


class Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x.clone())
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward(gradient)
        return None, start.grad


# over-budget, keeps-copies: Lest somebody change x: a copy, though x itself may be kept.
def keeps_a_copy(stage, x):
    return Copied.apply(stage, x)


class Attached(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            y = ctx.stage(x)
        y.backward(gradient)
        return None, x.grad if x.is_leaf else None


# wrong-result, not-cut-off: x still hangs on the stages before it: going back through y goes back
# through them as well.
def runs_back_through_all(stage, x):
    return Attached.apply(stage, x)


# wrong-result, library: PyTorch's own.
def calls_the_library(stage, x):
    return from_the_library(stage, x, use_reentrant=False)


class InTheirPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        own = list(ctx.stage.parameters())
        first, *others = torch.autograd.grad(y, [start, *own], gradient)
        for parameter, found in zip(own, others, strict=True):
            parameter.grad = found
        return None, first


# wrong-result, gradients-replaced: What was in .grad before is lost.
def puts_gradients_in_their_place(stage, x):
    return InTheirPlace.apply(stage, x)


INPUTS = {}


class ByStage(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        INPUTS[stage] = x
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        start = INPUTS[ctx.stage].detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward(gradient)
        return None, start.grad


# wrong-result, one-input-per-stage: A table beside the function: a stage that is called twice has
# one entry.
def an_input_for_each_stage(stage, x):
    return ByStage.apply(stage, x)


class InHalf(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x.bfloat16())
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.float().requires_grad_()
        with torch.enable_grad():
            y = ctx.stage(start)
        y.backward(gradient)
        return None, start.grad


# wrong-result, rounded: Half of the bytes, and another input in the second run.
def keeps_half_of_the_digits(stage, x):
    return InHalf.apply(stage, x)
