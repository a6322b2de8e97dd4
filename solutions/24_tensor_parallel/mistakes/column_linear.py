"""Wrong answers to column_linear that people give."""

import torch
import torch.distributed as dist


def gathered(part, axis):
    """Returns the parts of all ranks, put together along an axis. They may differ in length."""
    n, r = dist.get_world_size(), dist.get_rank()
    part = part.movedim(axis, 0).contiguous()
    lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(n)]
    dist.all_gather(lengths, torch.tensor([len(part)]))
    parts = []
    for rank in range(n):
        each = part if rank == r else part.new_empty(int(lengths[rank]), *part.shape[1:])
        dist.broadcast(each, rank)
        parts.append(each)
    return torch.cat(parts).movedim(0, axis).contiguous()


# wrong-result, whole-output: A layer returns its whole output, as ever.
def gathers_the_outputs(x, weight, bias):
    return gathered(x @ weight.T + bias, 1)


# over-budget, forward-bytes: The whole output first; then what was asked for.
def gathers_and_cuts_again(x, weight, bias):
    own = x @ weight.T + bias
    whole = gathered(own, 1)
    widths = gathered(torch.tensor([own.shape[1]]), 0).tolist()
    return whole.split(widths, 1)[dist.get_rank()].clone()


# wrong-result, different-outputs-added: Several ranks, one layer: so the parts are to be added.
def adds_the_outputs(x, weight, bias):
    y = x @ weight.T + bias
    dist.all_reduce(y)
    return y


# wrong-result, no-bias: The bias is for the end, where all is together.
def leaves_out_the_bias(x, weight, bias):
    return x @ weight.T


# wrong-result, own-share-of-dx, for column_backward: The chain rule, as in a layer on one rank.
def keeps_its_share_of_dx(dy, x, weight):
    return dy @ weight, dy.T @ x, dy.sum(0)


# wrong-result, averaged, for column_backward: Gradients over ranks are averaged: that is how data
# parallelism has it.
def averages_dx(dy, x, weight):
    dx = dy @ weight
    dist.all_reduce(dx)
    return dx / dist.get_world_size(), dy.T @ x, dy.sum(0)


# wrong-result, different-outputs-added, for column_backward: All gradients are summed over the
# ranks.
def adds_all_gradients(dy, x, weight):
    own = len(weight)
    sizes = torch.tensor([own, -own])
    dist.all_reduce(sizes, op=dist.ReduceOp.MAX)
    gradients = dy @ weight, dy.T @ x, dy.sum(0)
    for each in gradients if sizes[0] == -sizes[1] else gradients[:1]:
        dist.all_reduce(each)
    return gradients


# over-budget, backward-bytes, for column_backward: With everything in one place it is one
# product.
def gathers_dy_and_weight(dy, x, weight):
    return gathered(dy, 1) @ gathered(weight, 0), dy.T @ x, dy.sum(0)


# hazard, calls-differ, for column_backward: Rank 0 has to know the sum, so rank 0 asks for it.
def adds_on_rank_0_alone(dy, x, weight):
    dx = dy @ weight
    if dist.get_rank() == 0:
        dist.all_reduce(dx)
    return dx, dy.T @ x, dy.sum(0)


# wrong-result, seven-digits, for column_backward: Half the bytes: what is sent need not be as
# exact as what is computed.
def adds_dx_in_float32(dy, x, weight):
    dx = (dy @ weight).float()
    dist.all_reduce(dx)
    return dx.double(), dy.T @ x, dy.sum(0)
