"""How fast this machine multiplies matrices: many sides, and the best of them.

Source: Stas Bekman, Machine Learning Engineering, mamf-finder.py: the rate that a good library
reaches at the best of many shapes is what a model's rate is to be compared with.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gpu_course.lessons.profiling.pictures import Rate

REPEATS = 5
MAX_S = 0.5
"""When one side has taken as long, it is not repeated again."""


def sweep(sides: Sequence[int], device: str = "cpu") -> tuple[Rate, ...]:
    """Returns the rate of float32 products of square matrices, each the best of several runs.

    Args:
        sides: of the matrices.
        device: as PyTorch names it; on a GPU a product is over when the GPU says so.
    """
    import torch

    rates = []
    for side in sides:
        a, b = (torch.rand(side, side, device=device) for _ in range(2))
        best, spent = float("inf"), 0.0
        for run in range(1 + REPEATS):
            start = time.perf_counter()
            torch.mm(a, b)
            if device != "cpu":
                torch.cuda.synchronize()
            took = time.perf_counter() - start
            spent += took
            if run:  # the first one is not counted: it sets things up
                best = min(best, took)
            if run and spent > MAX_S:
                break
        rates.append(Rate(side, 2 * side**3 / max(best, 1e-9)))
    return tuple(rates)
