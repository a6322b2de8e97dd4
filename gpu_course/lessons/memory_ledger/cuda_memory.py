"""The same run on a GPU: what its caching allocator says, and a snapshot of its memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gpu_course.units import format_bytes


@dataclass(frozen=True)
class CudaPeak:
    """What the caching allocator of a GPU held while something ran.

    Attributes:
        before_bytes: in live blocks when it began.
        peak_bytes: in live blocks at most. Blocks are rounded up, to 512 bytes at least.
        reserved_bytes: what the allocator had taken from the GPU at most, its cache included.
        segments: (bytes, live bytes) of each piece it still has at the end.
    """

    before_bytes: int
    peak_bytes: int
    reserved_bytes: int
    segments: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        held = sum(size for size, _ in self.segments)
        live = sum(used for _, used in self.segments)
        peak, reserved = format_bytes(self.peak_bytes), format_bytes(self.reserved_bytes)
        end = f"{len(self.segments)} segments of {format_bytes(held)}, {format_bytes(live)} of it"
        return (
            f"before: {format_bytes(self.before_bytes)} in live blocks\n"
            f"at most: {peak} in live blocks, {reserved} taken from the GPU\n"
            f"at the end: {end} live"
        )


def gpu_to_use() -> bool:
    """True where there is a GPU and the course may use it (GPU_COURSE_GPU=off says no)."""
    switched_off = os.environ.get("GPU_COURSE_GPU", "").strip().lower()
    return switched_off not in ("off", "0", "no", "false") and torch.cuda.is_available()


def measure_cuda_peak(run: Callable[[], Any], snapshot: Path | None = None) -> CudaPeak | None:
    """Returns what the GPU's allocator held while `run` ran, or None where there is no GPU.

    It is about the current device alone. The workspaces of cuBLAS are there before anything is
    counted.

    Args:
        run: uses the GPU; called once.
        snapshot: where to write a snapshot with the history of every block since `run` began, for
            https://pytorch.org/memory_viz; default none. It is written where `run` fails, too: an
            error that says "out of memory" is when it is wanted most.
    """
    if not gpu_to_use():
        return None
    _take_workspaces()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    if snapshot is not None:
        torch.cuda.memory._record_memory_history(
            max_entries=100_000, stacks="python", clear_history=True
        )
    try:
        run()
        torch.cuda.synchronize()
    finally:
        if snapshot is not None:
            try:
                torch.cuda.memory._dump_snapshot(str(snapshot))
            finally:
                torch.cuda.memory._record_memory_history(enabled=None)
    return CudaPeak(
        before,
        torch.cuda.max_memory_allocated(),
        torch.cuda.max_memory_reserved(),
        _segments(torch.cuda.current_device()),
    )


def _take_workspaces() -> None:
    """Runs a small product forward and backward: the first one in a thread takes a workspace.

    cuBLAS keeps some MiB for each thread that calls it, and a backward pass has a thread of its
    own. They would stand in the numbers of whoever comes first.
    """
    a = torch.ones(8, 8, device="cuda", requires_grad=True)
    (a @ a).sum().backward()  # type: ignore[no-untyped-call]


def _segments(device: int) -> tuple[tuple[int, int], ...]:
    """Returns (bytes, live bytes) of each piece of one GPU that the allocator has now."""
    return tuple(
        (int(segment["total_size"]), int(segment["allocated_size"]))
        for segment in torch.cuda.memory.memory_snapshot()
        if segment.get("device", device) == device
    )
