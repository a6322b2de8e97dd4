"""rollback: step before all is known, and take the step back.

    rollback(parameters, optimizer, limit) -> None

    parameters  list of this rank's parameters; each has its .grad
    optimizer   a torch.optim.AdamW of these parameters
    limit       of the norm of all ranks' gradients together

This runs on n ranks at the same time, each with a stage of a pipeline.
Let S be the sum of the squares of all gradients of all ranks. Where S
is NaN or infinite, no step is taken: weights, moments and the count of
steps stay as they are. Where the square root of S is more than limit,
the step is taken with gradients times limit / root; else with the
gradients as they are. It is called for one step after the other.

But no rank waits for S. From rank to rank, 0 first, goes the sum so
far; a rank adds its own, sends it on, and steps at once by that sum,
as if it were S. The last rank knows S, and it comes back from rank to
rank. Where it asks for another step than the one that was taken, take
that one back, bit for bit, and step again, or not at all.

Measured: the values after each step, all bits of them; when
optimizer.step() is called, and how often: no more than once by the sum
so far, and once more where that was wrong. Each message is one float64,
to a neighbour; no collective is called.
"""

import copy
import math

import torch
import torch.distributed as dist


def rollback(parameters, optimizer, limit):
    n, r = dist.get_world_size(), dist.get_rank()
    gradients = [p.grad for p in parameters]

    # your code here (about 31 lines)
