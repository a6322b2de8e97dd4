"""Wrong answers to sequence_parallel that people give. The rest is the solution's."""

import torch
import torch.distributed as dist
from torch.nn import functional


def own_rows(x):
    """Returns the rows of this rank, of as many as all ranks have."""
    return x.tensor_split(dist.get_world_size())[dist.get_rank()].contiguous()


class Reduced(torch.autograd.Function):
    """The sum of all tokens on all ranks, of which each keeps its own."""

    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return own_rows(y)

    @staticmethod
    def backward(ctx, dy):
        return gathered(dy)


class WholeSum(torch.autograd.Function):
    """g of the MLP."""

    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        return dy


class GatherAndCut(torch.autograd.Function):
    """Gathers forward; backward each rank takes its own rows."""

    @staticmethod
    def forward(ctx, x):
        return gathered(x)

    @staticmethod
    def backward(ctx, dy):
        return own_rows(dy)


class CutAndGather(torch.autograd.Function):
    """Takes its own rows forward; gathers backward."""

    @staticmethod
    def forward(ctx, x):
        return own_rows(x)

    @staticmethod
    def backward(ctx, dy):
        return gathered(dy)


class GatherAndReduce(torch.autograd.Function):
    """Gathers forward; backward each rank keeps its part of the whole sum."""

    @staticmethod
    def forward(ctx, x):
        return gathered(x)

    @staticmethod
    def backward(ctx, dy):
        dx = dy.clone()
        dist.all_reduce(dx)
        return own_rows(dx)


def inside(whole, up, up_bias):
    return functional.gelu(whole @ up.T + up_bias)


# over-budget, kept-bytes: Gather at the beginning, scatter at the end, and all is as it was
# between them.
def norms_all_tokens(x, gain, up, up_bias, down, down_bias):
    whole = norm(Gather.apply(x), F.apply(gain))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# over-budget, forward-bytes: g, and then the own rows of it.
def reduces_everything(x, gain, up, up_bias, down, down_bias):
    whole = Gather.apply(norm(x, F.apply(gain)))
    return Reduced.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, whole-output: g, as in the MLP.
def returns_all_tokens(x, gain, up, up_bias, down, down_bias):
    whole = Gather.apply(norm(x, F.apply(gain)))
    return WholeSum.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, own-share-of-dx: What was gathered is cut again.
def cuts_going_backward(x, gain, up, up_bias, down, down_bias):
    whole = GatherAndCut.apply(norm(x, F.apply(gain)))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, own-share-of-y: Each rank goes on with its own rows.
def cuts_without_a_sum(x, gain, up, up_bias, down, down_bias):
    whole = Gather.apply(norm(x, F.apply(gain)))
    return CutAndGather.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, gather-and-scatter-swapped: First each rank gets its own, and all is put together
# at the end.
def scatters_first(x, gain, up, up_bias, down, down_bias):
    own = Scatter.apply(norm(x, F.apply(gain)))
    return Gather.apply(inside(own, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, gradient-summed-twice: f stays before the column layer, where it stood.
def keeps_f_behind_the_gather(x, gain, up, up_bias, down, down_bias):
    whole = F.apply(Gather.apply(norm(x, F.apply(gain))))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, bias-of-every-rank: A linear layer has its bias; then comes the sum.
def bias_before_the_sum(x, gain, up, up_bias, down, down_bias):
    whole = Gather.apply(norm(x, F.apply(gain)))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T + F.apply(down_bias))


# wrong-result, own-tokens-alone: A norm is not cut, so nothing has to be done for it.
def gain_of_its_own_tokens(x, gain, up, up_bias, down, down_bias):
    whole = Gather.apply(norm(x, gain))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)


# wrong-result, own-tokens-alone: In the MLP the last bias needed nothing either.
def bias_of_its_own_tokens(x, gain, up, up_bias, down, down_bias):
    whole = Gather.apply(norm(x, F.apply(gain)))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T) + down_bias


# over-budget, backward-bytes: f's sum, of which each rank keeps its own rows.
def gathers_in_both_passes(x, gain, up, up_bias, down, down_bias):
    whole = GatherAndReduce.apply(norm(x, F.apply(gain)))
    return Scatter.apply(inside(whole, up, up_bias) @ down.T) + F.apply(down_bias)
