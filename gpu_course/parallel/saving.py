"""A sharded state in files: saved by some ranks, loaded by others, by hand and by PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

FLOAT64_BYTES = 8

Reads = Callable[[int, int, int, int], Sequence[Sequence[int]]]
"""(length, saved on, loaded on, rank) -> [(file, first, end)] of what a rank reads."""


def numbers(length: int) -> torch.Tensor:
    """Returns a state whose numbers say where they belong, float64 (length,)."""
    return torch.arange(length, dtype=torch.float64) + 0.5


def save(folder: str, length: int) -> None:
    """Writes this rank's slice of the numbers, with its filling, by hand and by PyTorch.

    Args:
        folder: is there.
        length: of the whole state.
    """
    n, r = dist.get_world_size(), dist.get_rank()
    size = -(-length // n)
    mine = torch.zeros(size, dtype=torch.float64)
    own = numbers(length)[r * size : (r + 1) * size]
    mine[: len(own)] = own
    Path(folder, f"slice_{r}").write_bytes(mine.numpy().tobytes())
    dcp.save({"state": _cut(numbers(length))}, checkpoint_id=str(Path(folder, "dcp")))


def load(folder: str, length: int, saved: int, reads: Reads) -> dict[str, Any]:
    """Returns what this rank loaded: whether it is right, by hand and by PyTorch, and bytes read.

    Args:
        folder, length: as saved.
        saved: on how many ranks.
        reads: says what to read by hand.
    """
    n, r = dist.get_world_size(), dist.get_rank()
    size = -(-length // n)
    expected = numbers(length)[r * size : (r + 1) * size]
    parts, read = [], 0
    for file, first, end in reads(length, saved, n, r):
        with Path(folder, f"slice_{file}").open("rb") as opened:
            opened.seek(FLOAT64_BYTES * first)
            data = opened.read(FLOAT64_BYTES * (end - first))
        read += len(data)
        parts.append(torch.frombuffer(bytearray(data), dtype=torch.float64))
    by_hand = torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64)
    state = {"state": _cut(torch.zeros(length, dtype=torch.float64))}
    dcp.load(state, checkpoint_id=str(Path(folder, "dcp")))
    return {
        "by hand": torch.equal(by_hand, expected),
        "by dcp": torch.equal(state["state"].to_local(), expected),
        "read_bytes": read,
        "slice_bytes": FLOAT64_BYTES * len(expected),
    }


def _cut(whole: torch.Tensor) -> Any:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    return distribute_tensor(whole, mesh, [Shard(0)])
