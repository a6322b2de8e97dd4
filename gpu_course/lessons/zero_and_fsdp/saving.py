"""A sharded training state in files: saved by some ranks, loaded by others, by hand and by PyTorch.

What is saved are the optimizer's states of `slices.Zero`: for each unit a copy of its weights, m
and v, of which every rank has a slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from gpu_course.lessons.zero_and_fsdp.slices import Part, Zero
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES

KINDS = ("weights", "m", "v")

Reads = Callable[[int, int, int, int], Sequence[Sequence[int]]]
"""(length, saved on, loaded on, rank) -> [(file, first, end)] of what a rank reads."""


def save(folder: str, units: Sequence[Part], weights: Sequence[Tensor], x: Tensor) -> None:
    """Trains for two steps of stage 3, and writes this rank's slices by hand and by PyTorch.

    Args:
        folder: is there.
        units, weights, x: as `Zero` and its steps take them.
    """
    zero, rank = Zero(units, weights, stage=3), dist.get_rank()
    for _ in range(2):
        zero.step(x)
    state: dict[str, Any] = {}
    for k, unit in enumerate(units):
        for kind, mine in zip(KINDS, zero.states(k), strict=True):
            Path(folder, f"{kind}_{k}_of_rank_{rank}").write_bytes(mine.numpy().tobytes())
            whole = mine.new_empty(dist.get_world_size() * len(mine))
            dist.all_gather_single(whole, mine)
            state[f"{kind}_{k}"] = _cut(whole[: unit.length])
    dcp.save(state, checkpoint_id=str(Path(folder, "dcp")))


def load(folder: str, units: Sequence[Part], saved: int, reads: Reads) -> dict[str, Any]:
    """Returns what this rank loaded: whether it is right, by hand and by PyTorch, and bytes read.

    Args:
        folder: as saved.
        units: of the same model.
        saved: on how many ranks.
        reads: says what to read by hand.
    """
    state = {
        f"{kind}_{k}": _cut(torch.zeros(unit.length, dtype=torch.float64))
        for k, unit in enumerate(units)
        for kind in KINDS
    }
    dcp.load(state, checkpoint_id=str(Path(folder, "dcp")))
    told: dict[str, Any] = {"by hand": True, "by dcp": True, "read_bytes": 0, "slice_bytes": 0}
    for k, unit in enumerate(units):
        for kind in KINDS:
            files = [Path(folder, f"{kind}_{k}_of_rank_{rank}") for rank in range(saved)]
            expected = _slice_of_all(files, unit.length)
            parts = list(reads(unit.length, saved, dist.get_world_size(), dist.get_rank()))
            mine = [_numbers(files[file], first, end) for file, first, end in parts]
            told["by hand"] &= torch.equal(torch.cat([expected[:0], *mine]), expected)
            told["by dcp"] &= torch.equal(state[f"{kind}_{k}"].to_local(), expected)
            told["read_bytes"] += FLOAT64_BYTES * sum(map(len, mine))
            told["slice_bytes"] += FLOAT64_BYTES * len(expected)
    return told


def _numbers(file: Path, first: int, end: int) -> Tensor:
    with file.open("rb") as opened:
        opened.seek(FLOAT64_BYTES * first)
        data = bytearray(opened.read(FLOAT64_BYTES * max(0, end - first)))
    return torch.frombuffer(data, dtype=torch.float64) if data else torch.zeros(0).double()


def _slice_of_all(files: Sequence[Path], length: int) -> Tensor:
    """Returns this rank's slice, of all that is in the files."""
    whole = b"".join(file.read_bytes() for file in files)
    everything = torch.frombuffer(bytearray(whole), dtype=torch.float64)[:length]
    size = -(-length // dist.get_world_size())
    return everything[dist.get_rank() * size : (dist.get_rank() + 1) * size]


def _cut(whole: Tensor) -> DTensor:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    return distribute_tensor(whole, mesh, [Shard(0)])
