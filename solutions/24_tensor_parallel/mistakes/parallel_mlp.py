"""Wrong answers to parallel_mlp that people give. F and G are those of the solution."""

import torch
import torch.distributed as dist
from torch.nn.functional import gelu


class Summed(torch.autograd.Function):
    """The sum over the ranks, in both passes."""

    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        dx = dy.clone()
        dist.all_reduce(dx)
        return dx


class Averaged(torch.autograd.Function):
    """Nothing forward; the mean backward."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        dx = dy / dist.get_world_size()
        dist.all_reduce(dx)
        return dx


class Twice(torch.autograd.Function):
    """Nothing forward; backward the sum of the sum, divided again."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        dx = dy.clone()
        dist.all_reduce(dx)
        dist.all_reduce(dx)
        return dx / dist.get_world_size()


class OnRank0(torch.autograd.Function):
    """Nothing forward; backward the sum, asked for by rank 0."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        dx = dy.clone()
        if dist.get_rank() == 0:
            dist.all_reduce(dx)
        return dx


class Gathered(torch.autograd.Function):
    """The columns of all ranks beside each other."""

    @staticmethod
    def forward(ctx, x):
        n, r = dist.get_world_size(), dist.get_rank()
        widths = [torch.zeros(1, dtype=torch.int64) for _ in range(n)]
        dist.all_gather(widths, torch.tensor([x.shape[1]]))
        ctx.widths = [int(width) for width in widths]
        parts = [x.new_empty(len(x), width) for width in ctx.widths]
        parts[r] = x.contiguous()
        for rank in range(n):
            dist.broadcast(parts[rank], rank)
        return torch.cat(parts, 1)

    @staticmethod
    def backward(ctx, dy):
        return dy.split(ctx.widths, 1)[dist.get_rank()]


# wrong-result, own-share-of-dx: The forward pass is right, and autograd does the rest.
def without_f(x, up, up_bias, down, down_bias):
    return G.apply(gelu(x @ up.T + up_bias) @ down.T) + down_bias


# wrong-result, own-share-of-y: f is there, and the end is as on one rank.
def without_g(x, up, up_bias, down, down_bias):
    return gelu(F.apply(x) @ up.T + up_bias) @ down.T + down_bias


# wrong-result, f-and-g-swapped: The sum comes first, as in data parallelism.
def g_before_and_f_behind(x, up, up_bias, down, down_bias):
    return F.apply(gelu(G.apply(x) @ up.T + up_bias) @ down.T) + down_bias


# wrong-result, bias-of-every-rank: A linear layer has its bias; then comes g.
def bias_before_g(x, up, up_bias, down, down_bias):
    return G.apply(gelu(F.apply(x) @ up.T + up_bias) @ down.T + down_bias)


# wrong-result, gradient-summed-twice: The backward of an all-reduce is an all-reduce:
# torch.distributed.nn has it so.
def sums_in_both_passes_of_g(x, up, up_bias, down, down_bias):
    return Summed.apply(gelu(F.apply(x) @ up.T + up_bias) @ down.T) + down_bias


# wrong-result, averaged: Gradients are averaged over ranks.
def averages_in_f(x, up, up_bias, down, down_bias):
    return G.apply(gelu(Averaged.apply(x) @ up.T + up_bias) @ down.T) + down_bias


# wrong-result, no-gradient: all_reduce wants a tensor without a history.
def sums_outside_of_autograd(x, up, up_bias, down, down_bias):
    y = (gelu(F.apply(x) @ up.T + up_bias) @ down.T).detach()
    dist.all_reduce(y)
    return y + down_bias


# over-budget, forward-bytes: Every rank gets all the neurons, and takes its own of them for the
# row layer.
def gathers_the_neurons(x, up, up_bias, down, down_bias):
    inside = Gathered.apply(gelu(F.apply(x) @ up.T + up_bias))
    widths = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(widths, torch.tensor([len(up)]))
    first = sum(int(width) for width in widths[: dist.get_rank()])
    return G.apply(inside[:, first : first + len(up)] @ down.T) + down_bias


# over-budget, backward-bytes: To be on the safe side.
def sums_every_gradient_twice(x, up, up_bias, down, down_bias):
    return G.apply(gelu(Twice.apply(x) @ up.T + up_bias) @ down.T) + down_bias


# hazard, calls-differ: Rank 0 needs the sum.
def f_on_rank_0_alone(x, up, up_bias, down, down_bias):
    return G.apply(gelu(OnRank0.apply(x) @ up.T + up_bias) @ down.T) + down_bias
