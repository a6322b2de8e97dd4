"""ulysses_backward: heads for tokens, and tokens for heads.

    ulysses_backward(dout, q, k, v, tokens, causal) -> (dq, dk, dv)

    dout     float64 (heads, tokens of this rank, width): the gradient
             of the loss with respect to what the forward pass gave
    q, k, v  float64 (heads / n, all tokens, width): what attention was
             worked out with, all tokens of this rank's heads, kept from
             the forward pass
    tokens   how many tokens each rank holds: rank 0 the first ones,
             then rank 1, and so on; a rank may hold none
    causal   True where a query sees its own place and those before it
    dq, dk, dv
             float64, like dout: the gradients for this rank's tokens

This runs on every rank at the same time, of which there are n: they
divide the heads, and the first heads / n are those of rank 0. Leave
what you are given as it is. All numbers are finite.

to_heads and to_tokens are given: the two exchanges of the forward pass.
gradients does the work of some heads, where all their tokens are.

Measured: the bytes that each rank sends. Of dout all but its own share
of the heads, and of what it finds all but its own tokens.
"""

import torch
import torch.distributed as dist


def to_heads(x, tokens):
    """All heads of own tokens -> all tokens of own heads."""
    n, (heads, _, width) = dist.get_world_size(), x.shape
    sizes = [heads // n * each * width for each in tokens]
    arrives = x.new_empty(sum(sizes))
    leaves = [x.numel() // n] * n
    dist.all_to_all_single(arrives, x.flatten(), sizes, leaves)
    parts = arrives.split(sizes)
    pairs = zip(parts, tokens, strict=True)
    shaped = [part.view(heads // n, own, width) for part, own in pairs]
    return torch.cat(shaped, dim=1)


def to_tokens(x, tokens):
    """All tokens of own heads -> all heads of own tokens."""
    n, r = dist.get_world_size(), dist.get_rank()
    share, _, width = x.shape
    parts = x.split(tokens, dim=1)
    leaves = torch.cat([part.flatten() for part in parts])
    arrives = x.new_empty(n * share * tokens[r] * width)
    sizes = [part.numel() for part in parts]
    equal = [arrives.numel() // n] * n
    dist.all_to_all_single(arrives, leaves, equal, sizes)
    return arrives.view(n * share, tokens[r], width)


def gradients(q, k, v, dout, causal):
    """(dq, dk, dv) of some heads, all their tokens in one place."""
    scores = (q @ k.transpose(1, 2)) * q.shape[2] ** -0.5
    if causal:
        later = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    weights = scores.softmax(2)
    slope = dout @ v.transpose(1, 2)
    slope = weights * (slope - (weights * slope).sum(2, keepdim=True))
    slope = slope * q.shape[2] ** -0.5
    dk, dv = slope.transpose(1, 2) @ q, weights.transpose(1, 2) @ dout
    return slope @ k, dk, dv


def ulysses_backward(dout, q, k, v, tokens, causal):
    # your code here (about 2 lines)
    return None
