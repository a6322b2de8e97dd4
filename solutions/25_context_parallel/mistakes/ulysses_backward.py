"""Wrong answers to ulysses_backward that people give. The exchanges are those of the stub."""

import torch
import torch.distributed as dist


def all_gradients(dout, q, k, v, tokens, causal):
    """Returns dq, dk and dv of this rank's heads, all their tokens."""
    return gradients(q, k, v, to_heads(dout, tokens), causal)


# wrong-result, not-brought-back: The gradients are there.
def keeps_its_heads(dout, q, k, v, tokens, causal):
    return all_gradients(dout, q, k, v, tokens, causal)


# wrong-result, ignores-causal: The mask was for the forward pass.
def forgets_causal(dout, q, k, v, tokens, causal):
    found = all_gradients(dout, q, k, v, tokens, False)
    return [to_tokens(each, tokens) for each in found]


# wrong-result, always-causal: A language model is causal.
def masks_always(dout, q, k, v, tokens, causal):
    found = all_gradients(dout, q, k, v, tokens, True)
    return [to_tokens(each, tokens) for each in found]


# wrong-result, other-order: In the order in which a block is handed on.
def keys_first(dout, q, k, v, tokens, causal):
    dq, dk, dv = (to_tokens(each, tokens) for each in all_gradients(dout, q, k, v, tokens, causal))
    return dk, dv, dq


# wrong-result, not-three: Queries stay, so their gradient does too.
def keys_and_values_alone(dout, q, k, v, tokens, causal):
    _, dk, dv = all_gradients(dout, q, k, v, tokens, causal)
    return to_tokens(dk, tokens), to_tokens(dv, tokens)


# wrong-result, averaged: Gradients over ranks are averaged.
def averages_over_ranks(dout, q, k, v, tokens, causal):
    found = all_gradients(dout, q, k, v, tokens, causal)
    return [to_tokens(each, tokens) / dist.get_world_size() for each in found]


# wrong-result, heads-scrambled: What arrives is as long as dout, so it may be viewed like it.
def views_tokens_as_heads(dout, q, k, v, tokens, causal):
    found = [to_tokens(each, tokens) for each in all_gradients(dout, q, k, v, tokens, causal)]
    return [each.transpose(0, 1).reshape(dout.shape) for each in found]


# over-budget, everything-to-all: All heads on all ranks, zeros where there is nothing; then a
# sum.
def sums_over_all_ranks(dout, q, k, v, tokens, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    mine = []
    for each in all_gradients(dout, q, k, v, tokens, causal):
        whole = each.new_zeros(n, *each.shape)
        whole[r] = each
        dist.all_reduce(whole)
        mine.append(whole.flatten(0, 1).split(tokens, dim=1)[r].clone())
    return mine


# over-budget, too-many-bytes: First for its shape, then for its numbers.
def sends_twice(dout, q, k, v, tokens, causal):
    like = to_heads(torch.zeros_like(dout), tokens)
    found = gradients(q, k, v, like + to_heads(dout, tokens), causal)
    return [to_tokens(each, tokens) for each in found]


# input-changed, input-changed: A factor that belongs into dout, it seems, and out again.
def scales_dout_in_place(dout, q, k, v, tokens, causal):
    dout *= 2
    found = all_gradients(dout, q, k, v, tokens, causal)
    return [to_tokens(each, tokens) / 2 for each in found]
