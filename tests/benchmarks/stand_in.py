"""Where there is no GPU: the items of `make gpu` themselves, on a card that is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.card import gpu_parts
from gpu_course.grading.card import bench
from gpu_course.grading.card.library import CALLS, Call
from gpu_course.hardware import timing
from gpu_course.hardware.guard_zones import WriteOutside
from gpu_course.hardware.run import GaveUp
from simt.simulator import simulate
from tests.gpu_course.hardware.card import Card

WRONG_BY_ONE = "04_shared_memory/conv1d"
"""The solution that this GPU gets wrong."""
SMALL_BYTES = 4000
LIBRARY_MS = 1.5
NO_TORCH, WRONG_LIBRARY = "CARD_WITHOUT_TORCH", "CARD_WITH_A_WRONG_LIBRARY"
"""Variables of the environment: PyTorch is missing; which call gives another result."""
CARD = Card()


def run_in_the_simulator(
    path: Any, launches: Sequence[Any], values: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """In the place of `run_natively`."""
    copies = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}
    names = {name for launch in launches for name in launch.args}
    for launch in launches:
        shape = (launch.grid, launch.block, 0, launch.shared_bytes)
        report = simulate(f"{path}:{launch.function}", step_budget=40_000)[shape](
            *(copies[name] for name in launch.args)
        )
        for hazard in report.hazards:
            if hazard.kind == "out-of-bounds":
                raise WriteOutside("out", "after", 4, 4)
            if hazard.kind == "illegal-launch":
                raise GaveUp("the GPU gave up on kernel.py: too much shared memory")
    if WRONG_BY_ONE in str(path):
        copies["out"][-1] += 1
    return {name: copies[name] for name in names if isinstance(copies[name], np.ndarray)}


class TorchOnTheCard:
    """PyTorch on the CPU, whose products of matrices take time of the card's clock."""

    def __getattr__(self, name: str) -> Any:
        import torch

        return getattr(torch, name)

    def mm(self, *arguments: Any, **more: Any) -> Any:
        import torch

        CARD.now_ms += LIBRARY_MS
        return torch.mm(*arguments, **more)


def torch_on_the_card() -> tuple[Any, str]:
    """In the place of `bench.torch_on_gpu`."""
    return (None, "torch is not installed") if NO_TORCH in os.environ else (TorchOnTheCard(), "")


def timed(call: Call) -> Call:
    """A library's call that takes time of the card's clock."""

    def run(torch: Any, values: Any) -> Any:
        CARD.now_ms += LIBRARY_MS
        outcome = call.run(sys.modules["torch"], values)
        return outcome * 2 if call.words == os.environ.get(WRONG_LIBRARY) else outcome

    return Call(call.words, run)


def simulated(job: dict[str, Any]) -> dict[str, Any]:
    """Does an item of `gpu_parts` or a job of `bench` on the card that is none."""
    gpu_parts.run_natively = run_in_the_simulator
    timing.cuda_module = lambda: CARD
    timing.kernels_of = CARD.kernels_of
    bench._least_bytes = lambda: SMALL_BYTES
    gpu_parts._clock = bench._clock
    bench.torch_on_gpu = torch_on_the_card
    bench.DEVICE, bench.MATMUL_SIDE = "cpu", 8
    bench.CALLS = {name: timed(call) for name, call in CALLS.items()}
    kinds = ("device", "copy", "matmul", "answer")
    return bench.run(job) if job["kind"] in kinds else gpu_parts.run(job)
