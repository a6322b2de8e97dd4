"""What counting sectors alone says of kernels that somebody measured.

A sector has 32 bytes, 8 float32. Each model scales a rate that the same source measured, or that a
data sheet gives, by the sectors that two kernels touch for the same useful bytes.

Source: NVIDIA, CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"
"""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.errors import CatalogueError
from gpu_course.hardware.datasheet import device
from gpu_course.units import GB

WARP = 32
FLOATS = 8
"""Float32 in a sector."""
FULL = WARP // FLOATS
"""Sectors of 32 neighbouring float32 that begin at a sector."""
CARDS = {name: name for name in ("T4", "V100")}


def strided_sectors(stride: float) -> float:
    """Returns the sectors of a warp's load of float32 that lie `stride` apart.

    >>> [strided_sectors(stride) for stride in (1, 2, 8, 16)]
    [4, 8, 32, 32]
    """
    return FULL * min(stride, FLOATS)


@model(card=CARDS)
def data_sheet_gb_per_s(card: str) -> float:
    """Returns the memory bandwidth of a card's data sheet, which no kernel quite reaches."""
    bandwidth = device(card).bandwidth_bytes_per_s
    if bandwidth is None:
        raise CatalogueError(f"the card of the {card} has no bandwidth", "see hardware/cards.toml")
    return bandwidth / GB


@model()
def strided_read(measured: float, at: float, stride: float) -> float:
    """Returns the rate of useful bytes at a stride, from the rate measured at another one."""
    return measured * strided_sectors(at) / strided_sectors(stride)


@model()
def offset_percent(offset: float) -> float:
    """Returns what is left of an aligned copy's rate where a warp begins `offset` floats late."""
    late = offset % FLOATS
    return 100 * FULL / (FULL + (late > 0))


@model("rate")
def by_sectors(measured: float, sectors: float, instead_of: float) -> float:
    """Returns a measured rate, scaled to a kernel that touches `sectors` instead of its own."""
    return measured * instead_of / sectors


@model("rate")
def product_from_dram(side: float, gb_per_s: float) -> float:
    """Returns GFLOP/s of a matrix product each of whose loads goes to DRAM, 4 bytes at a time.

    Each of side^2 threads loads 2 * side numbers and reads and writes its result.
    """
    bytes_moved = 4 * side**2 * (2 * side + 2)
    seconds = bytes_moved / (gb_per_s * GB)
    return 2 * side**3 / seconds / GB


@model()
def wider_load(measured: float, at: float, width: float) -> float:
    """Returns a copy's rate with `width` bytes for each thread, from that with `at` bytes."""
    return measured * width / at
