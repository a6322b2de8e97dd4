"""all_reduce: the sum of all ranks on every rank.

    all_reduce(x) -> the sum of x over all ranks, a new tensor

    x   float64 (length,), on each rank its own numbers; leave it as
        it is. There may be fewer numbers than ranks, and infinities
        and NaN among them: each stays in its own place

This runs on every rank at the same time: n ranks, this one is r. Every
rank returns the same sum.

Who sends what to whom is up to you. The collectives of
torch.distributed are not allowed; its messages are: send and recv,
isend and irecv, and batch_isend_irecv. Wait for what you begin.

Measured: the bytes that each rank sends. It may send 2 (n - 1) pieces
as long as the longest of x.tensor_split(n): 2 (n - 1) / n times the
bytes of x where n divides the length.
"""

import torch
import torch.distributed as dist


def all_reduce(x):
    n, r = dist.get_world_size(), dist.get_rank()
    right, left = (r + 1) % n, (r - 1) % n
    # your code here (about 11 lines)
