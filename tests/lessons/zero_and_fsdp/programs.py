"""What the tests of ZeRO's stages run on ranks; a rank runs this file, and knows no other test."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from gpu_course.lessons.zero_and_fsdp import saving
from gpu_course.lessons.zero_and_fsdp.reshard import reads
from gpu_course.lessons.zero_and_fsdp.runs import one_process
from gpu_course.lessons.zero_and_fsdp.slices import Zero
from gpu_course.lessons.zero_and_fsdp.units import tiny
from gpu_course.measure.model import Shape

TWO_LAYERS = Shape(hidden=4, heads=2, layers=2, sequence=5, vocabulary=11, dropout=0.0)
ONE_LAYER = Shape(hidden=4, heads=2, layers=1, sequence=5, vocabulary=11, dropout=0.0)


def all_stages(steps: int) -> dict[str, Any]:
    """Returns for each stage how far off one process it ends, and what it holds in mixed precision.

    A barrier stands before and after each step in float64, and after each stage.
    """
    rank = dist.get_rank()
    lengths = [unit.length for unit in tiny(0, TWO_LAYERS)[0]]
    found: dict[str, Any] = {"lengths": lengths, "off": [], "held": []}
    one = one_process(dist.get_world_size(), steps, TWO_LAYERS)
    for stage in range(4):
        units, weights, tokens = tiny(rank, TWO_LAYERS)
        zero = Zero(units, weights, stage)
        for _ in range(steps):
            dist.barrier()
            zero.step(tokens)
        dist.barrier()
        found["off"].append(float((zero.all_weights() - one).abs().max()))
        mixed = Zero(units, weights, stage, narrow=torch.bfloat16, wide=torch.float32)
        mixed.step(tokens)
        found["held"].append(mixed.held)
        dist.barrier()
    return found


def save(folder: str) -> None:
    """Writes this rank's slices."""
    saving.save(folder, *tiny(dist.get_rank(), ONE_LAYER))


def load(folder: str, saved: int, right: bool) -> dict[str, Any]:
    """Returns what this rank loads, by the reference or by one that begins a number late."""

    def late(*sizes: int) -> list[tuple[int, int, int]]:
        return [(file, first + 1, end) for file, first, end in reads(*sizes)]

    units, *_ = tiny(dist.get_rank(), ONE_LAYER)
    return saving.load(folder, units, saved, reads if right else late)
