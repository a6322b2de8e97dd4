"""Wrong answers to parallel_attention that people give. F, G and attend are those of the stub."""

import torch
import torch.distributed as dist


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


def grouped(qkv, heads, groups):
    """Returns (queries, keys, values), each with a first axis of groups."""
    size = len(qkv) // (heads + 2 * groups)
    q, k, v = qkv.split([heads * size, groups * size, groups * size])
    return [each.view(groups, -1, qkv.shape[1]) for each in (q, k, v)]


def mixed_heads(x, qkv, size, each, repeat=torch.repeat_interleave):
    """Returns what attention gives of this rank's heads, side by side."""
    heads = (x @ qkv.T).view(len(x), -1, size).transpose(0, 1)
    own = len(heads) // (each + 2)
    q, k, v = heads.split([own * each, own, own])
    mixed = attend(q, repeat(k, each, 0), repeat(v, each, 0))
    return mixed.transpose(0, 1).flatten(1)


# wrong-result, rows-in-one-piece, for cut_heads: Rows are cut into equal parts, as in every
# column layer.
def cuts_the_rows_in_one_piece(qkv, out, heads, groups):
    n, r = dist.get_world_size(), dist.get_rank()
    return qkv.tensor_split(n)[r], out.tensor_split(n, 1)[r]


# wrong-result, other-heads, for cut_heads: Group k goes to rank k % n, as cards are dealt.
def deals_the_groups_out(qkv, out, heads, groups):
    n, r = dist.get_world_size(), dist.get_rank()
    parts = [each[r::n].flatten(0, 1) for each in grouped(qkv, heads, groups)]
    columns = torch.arange(out.shape[1]).view(groups, -1)[r::n].flatten()
    return torch.cat(parts), out[:, columns]


# wrong-result, all-keys, for cut_heads: Keys are few, and every rank may need them.
def keeps_all_keys(qkv, out, heads, groups):
    n, r = dist.get_world_size(), dist.get_rank()
    q, k, v = grouped(qkv, heads, groups)
    columns = torch.arange(out.shape[1]).view(groups, -1).tensor_split(n)[r].flatten()
    parts = [q.tensor_split(n)[r].flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1)]
    return torch.cat(parts), out[:, columns]


# wrong-result, out-by-rows, for cut_heads: Both weights by their rows.
def cuts_out_by_rows(qkv, out, heads, groups):
    n, r = dist.get_world_size(), dist.get_rank()
    parts = [e.tensor_split(n)[r].flatten(0, 1) for e in grouped(qkv, heads, groups)]
    return torch.cat(parts), out.tensor_split(n)[r]


# wrong-result, keys-in-turn: repeat repeats.
def repeats_the_keys_in_turn(x, qkv, out, size, each):
    def in_turn(heads, times, axis):
        return heads.repeat(times, 1, 1)

    return G.apply(mixed_heads(F.apply(x), qkv, size, each, in_turn) @ out.T)


# wrong-result, own-share-of-dx: The forward pass is right, and autograd does the rest.
def without_f(x, qkv, out, size, each):
    return G.apply(mixed_heads(x, qkv, size, each) @ out.T)


# wrong-result, own-share-of-y: f is there, and the end is as on one rank.
def without_g(x, qkv, out, size, each):
    return mixed_heads(F.apply(x), qkv, size, each) @ out.T


# wrong-result, f-and-g-swapped: The sum comes first, as in data parallelism.
def g_before_and_f_behind(x, qkv, out, size, each):
    return F.apply(mixed_heads(G.apply(x), qkv, size, each) @ out.T)


# over-budget, backward-bytes: Three column layers, and each has its f.
def f_for_each_product(x, qkv, out, size, each):
    own = len(qkv) // size // (each + 2)
    heads = []
    for part in qkv.split([own * each * size, own * size, own * size]):
        heads.append((F.apply(x) @ part.T).view(len(x), -1, size).transpose(0, 1))
    q, k, v = heads
    mixed = attend(q, k.repeat_interleave(each, 0), v.repeat_interleave(each, 0))
    return G.apply(mixed.transpose(0, 1).flatten(1) @ out.T)


# wrong-result, gradient-summed-twice: The backward of an all-reduce is an all-reduce:
# torch.distributed.nn has it so.
def sums_in_both_passes_of_g(x, qkv, out, size, each):
    return Summed.apply(mixed_heads(F.apply(x), qkv, size, each) @ out.T)
