"""The learner's answers outside their checks, and this machine as a planner would see it."""

from __future__ import annotations

import time

import numpy as np

from gpu_course.lessons.plan_my_run import peaks
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.ranks.runner import run_function
from gpu_course.units import GIB, GIGA, MIB


@asks_for_answers
@telling
def your_peaks() -> str:
    """Returns how far your `predict_memory` is off the peaks that nanotron measured."""
    from gpu_course.lessons.plan_my_run import runs

    asked = [peaks.training(run) for run in peaks.measured()]
    given = [(each.model, each.layout, each.batch) for each in asked]
    found = run_own("predict_memory", runs.peaks, 1, asked=given).results[0]
    return peaks.table([each / GIB for each in found])


SIDES = (64, 128, 192, 256, 384, 512, 768, 1024)
"""Of the products that are tried: what is no multiple of 64 is slower on GPUs."""


def products_here(repeats: int = 3) -> str:
    """Returns the rates of square products on this machine, and the best of them: its MAMF.

    Args:
        repeats: the best of so many.

    Source: Stas Bekman, ml-engineering, compute/accelerator/benchmarks, mamf-finder.py.
    """
    rates = {}
    for side in SIDES:
        a = np.ones((side, side), dtype=np.float32)
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            a @ a
            times.append(time.perf_counter() - begin)
        rates[side] = 2 * side**3 / min(times) / GIGA
    lines = [f"{side:>5}  {rate:>8.1f} GFLOP/s" for side, rate in rates.items()]
    best = max(rates, key=rates.__getitem__)
    return "\n".join([*lines, f"the most: {rates[best]:.1f} GFLOP/s, with {best} x {best}"])


def all_reduces_here(ranks: int = 2, repeats: int = 5) -> str:
    """Returns the bus bandwidth of all-reduces among ranks of this machine.

    Args:
        ranks: how many.
        repeats: the best of so many.

    Source: Stas Bekman, ml-engineering, network/benchmarks, all_reduce_bench.py.
    """
    from gpu_course.lessons.plan_my_run import runs

    sizes = [4096, 2**18, 2**22, 2**24]
    given = {"sizes": sizes, "repeats": repeats}
    seconds = run_function(runs.reduce_seconds, ranks, given).results[0]
    lines = ["     MiB        ms   GB/s on the bus"]
    for size, each in zip(sizes, seconds, strict=True):
        bus = 2 * (ranks - 1) / ranks * size / each / GIGA
        lines.append(f"{size / MIB:>8.3f}  {each * 1e3:>8.2f}   {bus:>8.2f}")
    return "\n".join(lines)
