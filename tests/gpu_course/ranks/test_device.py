"""A rank has a GPU of its own where each rank of its machine has one, and the CPU elsewhere."""

from __future__ import annotations

import pytest
import torch

from gpu_course.ranks.device import own_device


@pytest.mark.parametrize(
    ("gpus", "told", "device"),
    [
        (0, {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}, "cpu"),
        (0, {}, "cpu"),
        (1, {}, "cuda:0"),
        (1, {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}, "cpu"),
        (2, {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}, "cuda:1"),
        (8, {"LOCAL_RANK": "3", "LOCAL_WORLD_SIZE": "4"}, "cuda:3"),
    ],
)
def test_a_gpu_each_or_none(
    gpus: int, told: dict[str, str], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    chosen: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    assert own_device() == torch.device(device)
    assert chosen == ([] if device == "cpu" else [torch.device(device)])
