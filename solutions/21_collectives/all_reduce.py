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
    # answer
    pieces = [piece.clone() for piece in x.tensor_split(n)]

    def pass_on(leaves, arrives):
        buffer = torch.empty_like(pieces[arrives % n])
        for work in [dist.isend(pieces[leaves % n], right), dist.irecv(buffer, left)]:
            work.wait()
        return buffer

    for step in range(n - 1):
        pieces[(r - step - 2) % n] += pass_on(r - step - 1, r - step - 2)
    for step in range(n - 1):
        pieces[(r - step - 1) % n] = pass_on(r - step, r - step - 1)
    return torch.cat(pieces)
    # end answer
