"""What a count of bytes or of lanes says of single instructions, and of kernels that have too many.

Source: NVIDIA, CUDA Programming Guide, shared memory: 32 banks, each 4 bytes wide in a clock.
"""

from __future__ import annotations

from gpu_course.claims.models import model

LANES = 32
BANKS = 32
BANK_BYTES = 4


def wavefront_bytes() -> int:
    """Returns the bytes that all banks of shared memory give in one clock.

    >>> wavefront_bytes()
    128
    """
    return BANKS * BANK_BYTES


@model("rate")
def shuffles_per_clock(bytes_each: float) -> float:
    """Returns the warp instructions in a clock that hand each lane so many bytes through banks."""
    return wavefront_bytes() / (LANES * bytes_each)


@model("rate")
def shared_bytes_per_clock(pipes: float) -> float:
    """Returns bytes in a clock, with each of so many pipes as wide as the banks are."""
    return pipes * wavefront_bytes()


@model()
def as_measured(rate: float) -> float:
    """Returns the rate that the source measured for an instruction of the same kind elsewhere."""
    return rate


@model()
def time_at_share(ms: float, before: float, after: float) -> float:
    """Returns a kernel's time where the same bytes take another share of the memory's rate.

    Args:
        ms: measured before the change.
        before, after: per cent of the memory's rate, as the profiler counts them.
    """
    return ms * before / after
