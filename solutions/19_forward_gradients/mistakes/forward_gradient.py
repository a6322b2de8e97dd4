"""Wrong answers to forward_gradient that people give."""

import torch


# wrong-result, forgets-v: How far, and not where.
def forgets_the_direction(loss, point, v):
    _, slope = torch.func.jvp(loss, (point,), (v,))
    return slope * torch.ones_like(v)


# wrong-result, normalised: The part of the gradient along v: on average one d-th of the gradient.
def divides_by_the_squared_length(loss, point, v):
    _, slope = torch.func.jvp(loss, (point,), (v,))
    return slope * v / (v @ v)


# wrong-result, half-normalised: The slope along a unit vector, times the vector itself.
def divides_by_the_length(loss, point, v):
    _, slope = torch.func.jvp(loss, (point,), (v / v.norm(),))
    return slope * v


# wrong-result, elementwise: A slope is one number.
def place_by_place(loss, point, v):
    at = point.clone().requires_grad_()
    return torch.autograd.grad(loss(at), at)[0] * v


# wrong-result, the-gradient: No estimate, and no pass forward alone.
def the_gradient_itself(loss, point, v):
    at = point.clone().requires_grad_()
    return torch.autograd.grad(loss(at), at)[0]


# wrong-result, uphill: The step goes down; the estimate goes up.
def against_the_slope(loss, point, v):
    _, slope = torch.func.jvp(loss, (point,), (v,))
    return -slope * v


# wrong-result, value-for-slope: The first of the two that jvp returns.
def value_for_the_slope(loss, point, v):
    value, _ = torch.func.jvp(loss, (point,), (v,))
    return value * v


# wrong-result, differences: Two passes, and an error of its own.
def difference_quotient(loss, point, v):
    step = 1e-4
    return (loss(point + step * v) - loss(point)) / step * v


# wrong-result, seven-digits: Exact, and cut to seven digits before it is used.
def slope_in_float32(loss, point, v):
    _, slope = torch.func.jvp(loss, (point,), (v,))
    return slope.float() * v


# over-budget, keeps-a-graph: Right, with all the memory that was to be saved.
def by_backward_pass(loss, point, v):
    at = point.clone().requires_grad_()
    gradient = torch.autograd.grad(loss(at), at)[0]
    return (gradient @ v) * v


# wrong-result, wrong-size, for direction: A mean square of 1/3.
def uniform_in_a_box(size, generator):
    return 2 * torch.rand(size, generator=generator) - 1


# wrong-result, wrong-size, for direction: The root of 3, cut off: a mean square of 0.963.
def a_box_almost_right(size, generator):
    return 1.7 * (2 * torch.rand(size, generator=generator) - 1)


# wrong-result, wrong-size, for direction: A mean square of 1/d.
def of_length_one(size, generator):
    v = torch.randn(size, generator=generator)
    return v / v.norm()


# wrong-result, not-independent, for direction: No number is below zero: any two of them have a
# mean product.
def all_above_zero(size, generator):
    return torch.rand(size, generator=generator) * 3**0.5


# wrong-result, not-independent, for direction: One direction for ever.
def always_the_same(size, generator):
    return torch.randn(size, generator=torch.Generator().manual_seed(0))


# wrong-result, not-independent, for direction: A mean that is not 0 shows in every product.
def leans_to_one_side(size, generator):
    return torch.randn(size, generator=generator) + 0.5


# wrong-result, other-generator, for direction: Fine directions, and nobody can draw them again.
def another_generator(size, generator):
    return torch.randn(size)


# wrong-result, no-vector, for direction: Right numbers, and no tensor.
def a_list_of_numbers(size, generator):
    return torch.randn(size, generator=generator).tolist()


# wrong-result, inputs-changed: Saves a tensor, and the caller's v is another one now.
def scales_the_direction_itself(loss, point, v):
    _, slope = torch.func.jvp(loss, (point,), (v,))
    return v.mul_(slope)


# wrong-result, wrong-size, for direction: No number is to be larger than two, which makes the
# directions shorter.
def without_the_tails(size, generator):
    return torch.randn(size, generator=generator).clamp(-2, 2)
