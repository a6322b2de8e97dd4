"""Wrong answers to kernel_as_operator that learners give."""

import math

import torch
from torch import Tensor


def _forward(launch, x, bias):
    out = x.new_empty(x.shape)
    if x.numel():
        cols = bias.shape[0]
        launch(out.view(-1, cols), x.contiguous().view(-1, cols), bias.contiguous())
    return out


def _slope(v):
    below = (1 + torch.erf(v / math.sqrt(2))) / 2
    return below + v * torch.exp(-v * v / 2) / math.sqrt(2 * math.pi)


def _keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, dout):
    x, bias = ctx.saved_tensors
    dx = dout * _slope(x + bias)
    return dx, dx.sum_to_size(bias.shape)


def _operator(launch, forward=_forward, fake=None, keep=_keep, backward=_backward):
    @torch.library.custom_op("course::bias_gelu", mutates_args=())
    def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
        return forward(launch, x, bias)

    bias_gelu.register_fake(fake or (lambda x, bias: x.new_empty(x.shape)))
    bias_gelu.register_autograd(backward, setup_context=keep)
    return bias_gelu


# wrong-result, returns-input: Saves the memory of the output.
def writes_over_x(launch):
    def forward(launch, x, bias):
        launch(x.view(-1, bias.shape[0]), x.view(-1, bias.shape[0]), bias)
        return x

    return _operator(launch, forward)


# wrong-result, changes-input: Takes x for the kernel's output, and returns a copy of it.
def returns_a_copy(launch):
    def forward(launch, x, bias):
        launch(x.view(-1, bias.shape[0]), x.view(-1, bias.shape[0]), bias)
        return x.clone()

    return _operator(launch, forward)


# wrong-result, no-gradient: Leaves the gradient to autograd, which cannot see into a kernel.
def leaves_the_gradient_out(launch):
    @torch.library.custom_op("course::bias_gelu", mutates_args=())
    def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
        return _forward(launch, x, bias)

    bias_gelu.register_fake(lambda x, bias: x.new_empty(x.shape))
    return bias_gelu


# wrong-result, no-gradient: The bias is a parameter: somebody else will see to it.
def no_gradient_for_bias(launch):
    def backward(ctx, dout):
        return _backward(ctx, dout)[0], None

    return _operator(launch, backward=backward)


# wrong-result, other-shape: Returns the rows that the kernel wrote.
def returns_rows(launch):
    def forward(launch, x, bias):
        return _forward(launch, x, bias).view(-1, bias.shape[0])

    return _operator(launch, forward)


# wrong-result, other-dtype: Activations are in half precision, so this one is too.
def returns_half(launch):
    return _operator(launch, lambda launch, x, bias: _forward(launch, x, bias).half())


# wrong-result, no-fake: The operator runs, so it seems to be done.
def leaves_the_fake_out(launch):
    @torch.library.custom_op("course::bias_gelu", mutates_args=())
    def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
        return _forward(launch, x, bias)

    bias_gelu.register_autograd(_backward, setup_context=_keep)
    return bias_gelu


# wrong-result, fake-differs: The fake looks at x, whose strides are others where it is turned.
def fake_lies_as_x_does(launch):
    return _operator(launch, fake=lambda x, bias: torch.empty_like(x))


# wrong-result, launched-without-numbers: The fake does what the operator does.
def fake_launches(launch):
    return _operator(launch, fake=lambda x, bias: _forward(launch, x, bias))


# wrong-result, not-contiguous: Thinks that a view of rows is always there.
def always_a_view(launch):
    def forward(launch, x, bias):
        out = x.new_empty(x.shape)
        if x.numel():
            launch(out.view(-1, bias.shape[0]), x.view(-1, bias.shape[0]), bias)
        return out

    return _operator(launch, forward)


# wrong-result, launch-shapes: Hands on what comes, as a matrix or not.
def hands_on_any_shape(launch):
    def forward(launch, x, bias):
        out = x.new_empty(x.shape)
        if x.numel():
            launch(out, x.contiguous(), bias)
        return out

    return _operator(launch, forward)


# wrong-result, launch-arguments: Thinks of PyTorch's order: inputs first, output last.
def output_last(launch):
    def forward(launch, x, bias):
        out = x.new_empty(x.shape)
        launch(out.view(-1, bias.shape[0]), x.view(-1, bias.shape[0]).double(), bias)
        return out

    return _operator(launch, forward)


# wrong-result, empty-launch: Never had an empty batch.
def launches_on_nothing(launch):
    def forward(launch, x, bias):
        out, cols = x.new_empty(x.shape), bias.shape[0]
        launch(out.view(-1, cols), x.contiguous().view(-1, cols), bias.contiguous())
        return out

    return _operator(launch, forward)


# wrong-result, not-launched: PyTorch has this function already.
def calls_the_library(launch):
    return _operator(launch, lambda launch, x, bias: torch.nn.functional.gelu(x + bias))


# wrong-result, launched-again: A launch for each row.
def row_by_row(launch):
    def forward(launch, x, bias):
        out, cols = x.new_empty(x.shape), bias.shape[0]
        for row, result in zip(x.reshape(-1, cols), out.view(-1, cols), strict=True):
            launch(result[None], row.contiguous()[None], bias)
        return out

    return _operator(launch, forward)


# wrong-result, no-operator: A torch.autograd.Function is enough to train.
def an_autograd_function(launch):
    class BiasGelu(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, bias):
            ctx.save_for_backward(x, bias)
            return _forward(launch, x, bias)

        backward = staticmethod(_backward)

    return BiasGelu.apply


# wrong-result, one-per-input: Only x is the layer's input.
def one_gradient(launch):
    return _operator(launch, backward=lambda ctx, dout: _backward(ctx, dout)[0])


# wrong-result, gradient-shape: Adds up over the columns.
def sums_the_other_way(launch):
    def backward(ctx, dout):
        dx, _ = _backward(ctx, dout)
        return dx, dx.sum(-1)

    return _operator(launch, backward=backward)


# wrong-result, not-traced: The formula in NumPy, which is nearer to the kernel.
def backward_in_numpy(launch):
    def backward(ctx, dout):
        x, bias = ctx.saved_tensors
        dx = torch.from_numpy(dout.numpy() * _slope(x + bias).numpy())
        return dx, dx.sum_to_size(bias.shape)

    return _operator(launch, backward=backward)


# wrong-result, incoming-forgotten: The derivative of gelu, and no chain.
def slope_alone(launch):
    def backward(ctx, dout):
        x, bias = ctx.saved_tensors
        dx = _slope(x + bias)
        return dx, dx.sum_to_size(bias.shape)

    return _operator(launch, backward=backward)


# wrong-result, slope-one-part: Takes the share below v for a constant.
def half_of_the_product_rule(launch):
    def backward(ctx, dout):
        x, bias = ctx.saved_tensors
        dx = dout * (1 + torch.erf((x + bias) / math.sqrt(2))) / 2
        return dx, dx.sum_to_size(bias.shape)

    return _operator(launch, backward=backward)


# wrong-result, bias-left-out: Puts x aside, and forgets what was added to it.
def slope_at_x(launch):
    def backward(ctx, dout):
        x, bias = ctx.saved_tensors
        dx = dout * _slope(x)
        return dx, dx.sum_to_size(bias.shape)

    return _operator(launch, backward=backward)


# wrong-result, bias-of-one-row: One row's gradient has the right shape.
def bias_from_the_first_row(launch):
    def backward(ctx, dout):
        dx, total = _backward(ctx, dout)
        return dx, dx.reshape(-1, len(total))[0] if dx.numel() else total

    return _operator(launch, backward=backward)


# wrong-result, bias-of-one-row: A mean looks like a sum over the batch.
def bias_as_a_mean(launch):
    def backward(ctx, dout):
        dx, total = _backward(ctx, dout)
        return dx, total / max(1, dx.numel() // len(total))

    return _operator(launch, backward=backward)


# wrong-result, last-call: Keeps the inputs in a variable of the operator.
def keeps_them_outside(launch):
    kept = []

    def keep(ctx, inputs, output):
        kept[:] = inputs

    def backward(ctx, dout):
        x, bias = (each.detach() for each in kept)
        dx = dout * _slope(x + bias)
        return dx, dx.sum_to_size(bias.shape)

    return _operator(launch, keep=keep, backward=backward)


# wrong-result, tanh-slope: Differentiates the other formula of gelu.
def slope_of_the_tanh_formula(launch):
    def backward(ctx, dout):
        x, bias = ctx.saved_tensors
        v = x + bias
        inner = math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)
        turn = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * v * v)
        t = torch.tanh(inner)
        dx = dout * ((1 + t) / 2 + v / 2 * (1 - t * t) * turn)
        return dx, dx.sum_to_size(bias.shape)

    return _operator(launch, backward=backward)


# wrong-result, no-tensor: The case without cells ends without a return.
def returns_only_what_it_launched(launch):
    def forward(launch, x, bias):
        if x.numel():
            return _forward(launch, x, bias)

    return _operator(launch, forward)


# wrong-result, output-reused: Makes the output's memory once, and saves the rest.
def one_output_for_all_calls(launch):
    kept = {}

    def forward(launch, x, bias):
        if x.shape not in kept:
            kept[x.shape] = x.new_empty(x.shape)
        kept[x.shape].copy_(_forward(launch, x, bias))
        return kept[x.shape]

    return _operator(launch, forward)
