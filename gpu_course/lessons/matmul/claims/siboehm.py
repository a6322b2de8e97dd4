"""What the count of shared loads says of Simon Boehm's kernels."""

from __future__ import annotations

from gpu_course.claims.models import model

PRODUCTS_FOR_A_LOAD = 4
"""Warps' multiply-adds that an SM of the A6000 makes while it serves one warp's shared load.

An SM of compute capability 8.6 has 128 lanes for float32, four warps' worth, and shared memory
hands 32 words out in a clock.

Source: NVIDIA, CUDA Programming Guide, throughput of native arithmetic instructions
"""


@model()
def by_shared_loads(loads: float, peak: float) -> float:
    """Returns the most that arithmetic and shared memory allow, in the unit of `peak`.

    Args:
        loads: from shared memory for each multiply-add.
        peak: what the arithmetic makes when nothing holds it up.
    """
    return peak * min(1.0, 1 / (PRODUCTS_FOR_A_LOAD * loads))


@model()
def share_of_library(kernel: float, library: float) -> float:
    """Returns what percentage of a library's speed a kernel reaches."""
    return 100 * kernel / library
