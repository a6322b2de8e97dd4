"""Examples of the pictures of lesson 02."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numba import cuda

from gpu_course.hardware.compute_capability import capability
from gpu_course.hardware.occupancy import occupancy
from gpu_course.lessons.warps.issue_picture import draw_issue
from gpu_course.lessons.warps.latency import issue
from gpu_course.lessons.warps.residency_picture import draw_residency
from gpu_course.lessons.warps.shuffles_picture import draw_shuffles
from simt.stepping import record
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.kernels import numbers, zeros


def tree(out, a):
    i = cuda.grid(1)
    total = a[i]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, delta)
    out[i] = total


@draws(draw_shuffles)
def sum_of_ones() -> Figure:
    ones = np.ones(32, np.float32)
    return draw_shuffles(record(tree, "total")[1, 32](zeros(32), ones), "total")


@draws(draw_shuffles)
def followed_with_wide_values() -> Figure:
    return draw_shuffles(record(tree, "total")[1, 32](zeros(32), numbers(32)), "total", follow=3)


@draws(draw_residency, ("8.0", 64, 16_384, 256), ("9.0", 16, 1_000, 32), ("8.0", 255, 0, 1024))
def on_an_sm(given: tuple[str, int, int, int]) -> Figure:
    version, registers, shared, threads = given
    sm = capability(version)
    found = occupancy(sm, registers, shared, threads)
    return draw_residency(found.blocks, -(-threads // 32), sm.max_warps_per_sm, found.limits)


@draws(draw_issue)
def clocks() -> Figure:
    return draw_issue(issue(12, 1, 12, 32).slots, 12, 12)
