"""ring_attention_backward: the gradients of q, k and v, block by block.

    ring_attention_backward(dout, q, k, v, out, lse, places, causal)
        -> (dq, dk, dv)

    dout, q, k, v, out
             float64 (heads, tokens of this rank, width): the gradient
             of the loss with respect to out, what the forward pass got,
             and what it gave; leave them as they are
    lse      float64 (heads, tokens of this rank), from the forward pass
    places   for each rank the places of its tokens in the sequence, an
             int64 tensor
    causal   True where a query sees its own place and those before it
    dq, dk, dv
             float64, like q: the gradients for this rank's own tokens

All numbers are finite. A rank may hold no token.

This runs on every rank at the same time: n ranks, this one is r. Each
rank finds a share of the gradients of every key and value. Let them
travel with their block, and come home. Each rank sends to its right
neighbour, rank (r + 1) % n. No collectives of the library.

Measured: the bytes that each rank sends. Every block of k and v but its
right neighbour's, once, and for every block but its own once dk and dv.

gradients and swap are given. gradients does the work of one block,
swap sends tensors to the right and returns those from the left, which
may hold more tokens or fewer.
"""

import torch
import torch.distributed as dist


def gradients(q, k, v, dout, out, lse, seen):
    """(dq, dk, dv) of one block; lse is over the whole sequence."""
    scale = q.shape[2] ** -0.5
    scores = (q @ k.transpose(1, 2)) * scale
    weights = torch.exp(scores - lse.unsqueeze(2))
    weights = weights.masked_fill(~seen, 0.0)
    slope = dout @ v.transpose(1, 2)
    mean = (dout * out).sum(2, keepdim=True)
    slope = weights * (slope - mean) * scale
    dk, dv = slope.transpose(1, 2) @ q, weights.transpose(1, 2) @ dout
    return slope @ k, dk, dv


def swap(tensors, tokens):
    """What comes from the left, with so many tokens each."""
    n, r = dist.get_world_size(), dist.get_rank()
    shape = (tensors[0].shape[0], tokens, tensors[0].shape[2])
    arrive = [each.new_empty(shape) for each in tensors]
    leave = [each.contiguous() for each in tensors]
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, each, (r + 1) % n) for each in leave]
        + [dist.P2POp(dist.irecv, each, (r - 1) % n) for each in arrive]
    )
    for work in works:
        work.wait()
    return arrive


def ring_attention_backward(dout, q, k, v, out, lse, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    tokens = [len(each) for each in places]

    def sees(owner):
        """Which of this rank's queries sees which key of `owner`."""
        seen = places[r].unsqueeze(1) >= places[owner].unsqueeze(0)
        return seen if causal else torch.ones_like(seen)

    # your code here (about 15 lines)
    return None
