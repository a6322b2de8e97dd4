"""ring_attention: exact attention over a sequence that no rank holds.

    ring_attention(q, k, v, places, causal) -> (out, lse)

    q, k, v  float64 (heads, tokens of this rank, width); leave them as
             they are
    places   for each rank the places of its tokens in the sequence, an
             int64 tensor; they may lie in any order
    causal   True where a query sees its own place and those before it,
             False where it sees all
    out      float64, like q: what attention over the whole sequence
             gives for these queries
    lse      float64 (heads, tokens of this rank): the logarithm of the
             sum of exp(score), over all the keys it sees

All numbers are finite, and scores may be in the hundreds. A rank may
hold no token, and a query sees one key or more, itself at least.

This runs on every rank at the same time: n ranks, this one is r.
Queries stay; blocks of keys and values go round, each rank sending to
its right neighbour, rank (r + 1) % n. No collectives of the library.

Measured: the bytes that each rank sends: every block of k and v but its
right neighbour's, once. And the memory of a rank on 8 ranks: at most 14
blocks of the size of q at one time, beside what was given, however many
ranks there are.

attend and merge are given. attend does the work of one block.
"""

import torch
import torch.distributed as dist


def attend(q, k, v, seen):
    """(out, lse) over one block; seen[i, j]: query i sees key j."""
    scores = q @ k.transpose(1, 2) / q.shape[2] ** 0.5
    scores.masked_fill_(~seen, -torch.inf)
    lse = scores.logsumexp(2)
    safe = lse.masked_fill(lse == -torch.inf, 0.0)
    return scores.sub_(safe.unsqueeze(2)).exp_() @ v, lse


def merge(out, lse, other_out, other_lse):
    """(out, lse) over the keys of both."""
    both = torch.logaddexp(lse, other_lse)
    safe = both.masked_fill(both == -torch.inf, 0.0)
    share = torch.exp(lse - safe).unsqueeze(2)
    other = torch.exp(other_lse - safe).unsqueeze(2)
    return share * out + other * other_out, both


def ring_attention(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    right, left = (r + 1) % n, (r - 1) % n
    # your code here (about 19 lines)
    return None
