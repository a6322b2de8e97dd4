"""What lesson 29 runs on ranks: groups of an answer beside those of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


def beside_pytorch(
    places: ModuleType, grouped: ModuleType, order: Sequence[str], sizes: Mapping[str, int]
) -> list[tuple[str, list[int], list[int], int, int]]:
    """Returns for each axis (name, own group, PyTorch's, own place, PyTorch's), of this rank.

    Args:
        places: an answer with `coords`.
        grouped: an answer with `groups`.
        order, sizes: as these take them. PyTorch gets the axes the other way round: its first one
            is the outermost.
    """
    names = tuple(reversed(order))
    mesh = init_device_mesh("cpu", tuple(sizes[name] for name in names), mesh_dim_names=names)
    rank, found = dist.get_rank(), []
    place = places.coords(rank, list(order), dict(sizes))
    for axis in order:
        mine = grouped.groups([axis], list(order), dict(sizes))
        own = next((list(group) for group in mine if rank in group), [])
        theirs = [int(other) for other in mesh[axis].mesh.tolist()]
        found.append((axis, own, theirs, place[axis], mesh.get_local_rank(axis)))
    return found
