"""Where no GPU may be used, nothing runs and nothing is claimed."""

from __future__ import annotations

import pytest
import torch

from gpu_course.training.cuda_memory import CudaPeak, gpu_to_use, measure_cuda_peak


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
