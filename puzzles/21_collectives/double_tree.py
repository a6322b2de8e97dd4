"""double_tree: an all-reduce over two trees.

    double_tree(x) -> the sum over all ranks, a new tensor

    x   float64 (length,), on each rank its own numbers; leave it as
        it is. There may be fewer numbers than ranks, and infinities
        and NaN among them: each stays in its own place

This runs on every rank at the same time. The first half of the buffer,
x.tensor_split(2)[0], is added up over the first tree: each rank
receives the sums of its children, adds its own numbers and sends the
sum to its parent; the root then has it all, and it goes down the same
tree to everybody. The second half does the same over the second tree.

trees(n) gives both trees: a list with the parent of each rank, None for
the root.

The collectives of torch.distributed are not allowed; its messages are.

Measured: the bytes from each rank to each other. A half goes over
each edge of its tree once up and once down, and nowhere else.
"""

import torch
import torch.distributed as dist


def parent(place, n):
    """The parent of a place: odd places are leaves."""
    bit = place & -place
    up = (place ^ bit) | (bit << 1)
    return None if place == 0 else up if up < n else place ^ bit


def trees(n):
    """For each tree the parents of all ranks."""
    first = [parent(place, n) for place in range(n)]
    # Who is where in the second tree: leaves and others change places.
    at = [n - 1 - r if n % 2 == 0 else (r - 1) % n for r in range(n)]
    above = [first[at[r]] for r in range(n)]
    return first, [None if up is None else at.index(up) for up in above]


def double_tree(x):
    n, r = dist.get_world_size(), dist.get_rank()
    # your code here (about 17 lines)
