"""ring_reduce_scatter: on each rank one piece of the sum.

    ring_reduce_scatter(x) -> the piece of this rank, summed

    x   float64 (length,), on each rank its own numbers; leave it as
        it is. There may be fewer numbers than ranks, and infinities
        and NaN among them: each stays in its own place

This runs on every rank at the same time. There are n ranks, this one
is r, and piece k is x.tensor_split(n)[k]: n need not divide the length.
Rank r returns the sum over all ranks of their piece r.

The ranks form a ring: rank r sends to rank (r + 1) % n and to no other,
one piece in each step. The collectives of torch.distributed are not
allowed; its messages are: send and recv, isend and irecv, and
batch_isend_irecv. Wait for what you begin.

Measured: the bytes that each rank sends. No piece has to leave a rank
twice, and piece r never has to leave rank r.
"""

import torch
import torch.distributed as dist


def ring_reduce_scatter(x):
    n, r = dist.get_world_size(), dist.get_rank()
    right, left = (r + 1) % n, (r - 1) % n
    # your code here (about 10 lines)
