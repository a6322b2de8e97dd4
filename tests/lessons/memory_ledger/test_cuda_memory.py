"""The GPU's allocator: a stand-in for it here, the real one where there is a GPU."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu_course.lessons.memory_ledger import cuda_memory
from gpu_course.lessons.memory_ledger.cuda_memory import CudaPeak, gpu_to_use, measure_cuda_peak


@pytest.mark.parametrize("word", ["off", "OFF", " 0 ", "no", "false"])
def test_a_gpu_that_is_switched_off_is_left_alone(word, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("GPU_COURSE_GPU", word)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    ran: list[int] = []
    assert not gpu_to_use()
    assert measure_cuda_peak(lambda: ran.append(1), tmp_path / "snapshot.pickle") is None
    assert ran == [] and list(tmp_path.iterdir()) == []


def test_the_numbers_are_told_in_three_lines() -> None:
    text = str(CudaPeak(1024, 3 << 20, 4 << 20, ((2 << 20, 1 << 20), (2 << 20, 0))))
    assert text.splitlines() == [
        "before: 1 KiB in live blocks",
        "at most: 3 MiB in live blocks, 4 MiB taken from the GPU",
        "at the end: 2 segments of 4 MiB, 1 MiB of it live",
    ]


class StandIn:
    """What PyTorch's allocator would say of two GPUs, and what it was asked, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.live = self.peak = 512
        self.history: dict[str, Any] | None = None

    def take(self, size: int) -> None:
        """A run's block: rounded up to 512 bytes, as the allocator does it."""
        self.live += -(-size // 512) * 512
        self.peak = max(self.peak, self.live)

    def reset(self) -> None:
        self.asked.append("reset")
        self.peak = self.live

    def record(self, enabled: str | None = "all", **how: Any) -> None:
        self.asked.append("stop" if enabled is None else "record")
        self.history = None if enabled is None else how

    def dump(self, filename: str) -> None:
        assert self.history is not None, "nothing is recorded, so there is nothing to write"
        self.asked.append("dump")
        Path(filename).write_bytes(b"a snapshot")

    def snapshot(self) -> list[dict[str, int]]:
        mine = {"device": 0, "total_size": 2 << 20, "allocated_size": self.live}
        return [mine, {"device": 1, "total_size": 20 << 20, "allocated_size": 7}]


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn()
    instead: dict[str, Callable[..., Any]] = {
        "synchronize": lambda: made.asked.append("wait"),
        "reset_peak_memory_stats": made.reset,
        "memory_allocated": lambda: made.live,
        "max_memory_allocated": lambda: made.peak,
        "max_memory_reserved": lambda: 2 << 20,
        "current_device": lambda: 0,
        "memory._record_memory_history": made.record,
        "memory._dump_snapshot": made.dump,
        "memory.memory_snapshot": made.snapshot,
    }
    for name, stand_in in instead.items():
        monkeypatch.setattr(f"torch.cuda.{name}", stand_in)
    monkeypatch.setattr(cuda_memory, "gpu_to_use", lambda: True)
    monkeypatch.setattr(cuda_memory, "_take_workspaces", lambda: made.asked.append("workspaces"))
    return made


def test_what_is_there_before_is_told_apart_and_other_gpus_are_left_out(allocator) -> None:
    peak = measure_cuda_peak(lambda: allocator.take(1000))
    assert peak == CudaPeak(512, 1536, 2 << 20, ((2 << 20, 1536),))
    # The run is over when the GPU says so, not when Python comes back.
    assert allocator.asked == ["workspaces", "wait", "reset", "wait"]


def test_a_snapshot_holds_this_run_alone_and_recording_ends(allocator, tmp_path) -> None:
    kept: list[Any] = []
    path = tmp_path / "snapshot.pickle"
    measure_cuda_peak(lambda: kept.append(allocator.history), path)
    assert kept == [{"max_entries": 100_000, "stacks": "python", "clear_history": True}]
    assert allocator.asked[-4:] == ["record", "wait", "dump", "stop"]
    assert path.read_bytes() == b"a snapshot" and allocator.history is None


def test_a_run_out_of_memory_leaves_its_snapshot(allocator, tmp_path) -> None:
    def run() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    path = tmp_path / "snapshot.pickle"
    with pytest.raises(torch.OutOfMemoryError):
        measure_cuda_peak(run, path)
    assert allocator.asked[-3:] == ["record", "dump", "stop"] and path.exists()


def test_the_stand_in_is_called_as_pytorch_is() -> None:
    """The words a stand-in takes without asking are words that PyTorch knows."""
    known = inspect.signature(torch.cuda.memory._record_memory_history_impl).parameters
    assert {"enabled", "max_entries", "stacks", "clear_history"} <= set(known)
    written = inspect.signature(torch.cuda.memory._dump_snapshot).parameters
    assert next(iter(written)) == "filename"


@pytest.mark.gpu
def test_the_allocator_rounds_up_what_the_ledger_counts() -> None:
    if not gpu_to_use():
        pytest.skip("needs a real NVIDIA GPU")
    torch.zeros(1, device="cuda")

    def run() -> torch.Tensor:
        return torch.zeros(1000, device="cuda") + torch.ones(1000, device="cuda")

    peak = measure_cuda_peak(run)
    assert peak is not None
    # Three blocks of 4,000 bytes, each rounded up to a multiple of 512.
    assert peak.peak_bytes - peak.before_bytes == 3 * 4096
    assert peak.reserved_bytes >= peak.peak_bytes
