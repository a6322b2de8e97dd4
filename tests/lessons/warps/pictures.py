"""Examples of the pictures of lesson 02."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numba import cuda

from gpu_course.hardware.compute_capability import capability
from gpu_course.hardware.occupancy import occupancy
from gpu_course.lessons.warps.divergence_picture import draw_divergence
from gpu_course.lessons.warps.issue_picture import draw_issue
from gpu_course.lessons.warps.latency import issue
from gpu_course.lessons.warps.residency_picture import draw_residency
from gpu_course.lessons.warps.shuffles_picture import draw_shuffles
from simt.stepping import record
from tests.gpu_course.draw.examples import draws

NUMBERS = np.linspace(-19.875, 20.125, 50, dtype=np.float32)


def zeros(size: int) -> np.ndarray:
    return np.zeros(size, np.float32)


def parting(out, a, size):
    i = cuda.grid(1)
    if i < size:
        for k in range(i % 3):
            out[i] = a[i] * k + a[(i + a.shape[0] // 2) % a.shape[0]]


def tree(out, a):
    i = cuda.grid(1)
    total = a[i]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, delta)
    out[i] = total


@draws(draw_divergence)
def two_warps() -> Figure:
    return draw_divergence(record(parting)[1, 50](zeros(50), NUMBERS, 44), (0, 1))


@draws(draw_shuffles)
def of_ones() -> Figure:
    return draw_shuffles(record(tree, "total")[1, 32](zeros(32), np.ones(32, np.float32)), "total")


@draws(draw_shuffles)
def followed_with_wide_values() -> Figure:
    recording = record(tree, "total")[1, 32](zeros(32), NUMBERS[:32])
    return draw_shuffles(recording, "total", follow=3)


@draws(draw_residency, ("8.0", 64, 16_384, 256), ("9.0", 16, 1_000, 32), ("8.0", 255, 0, 1024))
def on_an_sm(given: tuple[str, int, int, int]) -> Figure:
    version, registers, shared, threads = given
    sm = capability(version)
    found = occupancy(sm, registers, shared, threads)
    return draw_residency(found.blocks, -(-threads // 32), sm.max_warps_per_sm, found.limits)


@draws(draw_issue)
def twelve_warps() -> Figure:
    return draw_issue(issue(12, 1, 12, 32).slots, 12, 12)
