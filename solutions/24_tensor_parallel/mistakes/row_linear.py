"""Wrong answers to row_linear that people give."""

import torch
import torch.distributed as dist


# wrong-result, bias-of-every-rank: A linear layer with its bias on every rank; then the sum.
def adds_the_bias_first(x, weight, bias):
    y = x @ weight.T + bias
    dist.all_reduce(y)
    return y


# wrong-result, no-bias: The bias is somebody else's.
def leaves_out_the_bias(x, weight, bias):
    y = x @ weight.T
    dist.all_reduce(y)
    return y


# wrong-result, own-share-of-y: A rank works with what it has.
def keeps_its_share(x, weight, bias):
    return x @ weight.T + bias


# wrong-result, bias-on-one-rank: Once means: on one rank. But after the sum every rank has a
# copy.
def adds_the_bias_on_rank_0(x, weight, bias):
    y = x @ weight.T
    dist.all_reduce(y)
    return y + bias if dist.get_rank() == 0 else y


# wrong-result, averaged: What comes from several ranks is averaged.
def averages(x, weight, bias):
    y = x @ weight.T
    dist.all_reduce(y)
    return y / dist.get_world_size() + bias


# over-budget, forward-bytes: With the whole x and the whole weight it is an ordinary layer.
def gathers_the_input(x, weight, bias):
    n, r = dist.get_world_size(), dist.get_rank()
    y = torch.zeros(len(x), len(bias), dtype=x.dtype)
    widths = [torch.zeros(1, dtype=torch.int64) for _ in range(n)]
    dist.all_gather(widths, torch.tensor([x.shape[1]]))
    for rank in range(n):
        width = int(widths[rank])
        columns = x.contiguous() if rank == r else x.new_empty(len(x), width)
        weights = weight.contiguous() if rank == r else x.new_empty(len(bias), width)
        dist.broadcast(columns, rank)
        dist.broadcast(weights, rank)
        y += columns @ weights.T
    return y + bias


# hazard, calls-differ: Rank 0 collects the shares.
def adds_on_rank_0_alone(x, weight, bias):
    y = x @ weight.T
    if dist.get_rank() == 0:
        dist.all_reduce(y)
    return y + bias


# wrong-result, different-inputs-added, for row_backward: As many all-reduces as in a column
# layer.
def adds_dx_up(dy, x, weight):
    dx = dy @ weight
    widths = torch.tensor([dx.shape[1], -dx.shape[1]])
    dist.all_reduce(widths, op=dist.ReduceOp.MAX)
    if widths[0] == -widths[1]:
        dist.all_reduce(dx)
    return dx, dy.T @ x, dy.sum(0)


# wrong-result, same-gradient-added, for row_backward: The bias is on every rank, so its gradient
# is summed over them.
def adds_dbias_up(dy, x, weight):
    dbias = dy.sum(0)
    dist.all_reduce(dbias)
    return dy @ weight, dy.T @ x, dbias


# wrong-result, dbias-shared, for row_backward: One bias for all ranks: to each its share of the
# gradient.
def shares_dbias_out(dy, x, weight):
    return dy @ weight, dy.T @ x, dy.sum(0) / dist.get_world_size()


# over-budget, backward-bytes, for row_backward: Summed, and divided again: the same number that
# every rank had before.
def averages_dbias(dy, x, weight):
    dbias = dy.sum(0)
    dist.all_reduce(dbias)
    return dy @ weight, dy.T @ x, dbias / dist.get_world_size()


# input-changed, input-changed, for row_backward: Saves a tensor.
def sums_dy_in_place(dy, x, weight):
    dx, dweight = dy @ weight, dy.T @ x
    for row in range(1, len(dy)):
        dy[0] += dy[row]
    return dx, dweight, dy[0].clone()


# wrong-result, seven-digits: Half the bytes: what is sent need not be as exact as what is
# computed.
def adds_y_in_float32(x, weight, bias):
    y = (x @ weight.T).float()
    dist.all_reduce(y)
    return y.double() + bias
