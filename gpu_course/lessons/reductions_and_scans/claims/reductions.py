"""What bytes alone say of sums and histograms that somebody measured."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.errors import CatalogueError
from gpu_course.hardware.datasheet import device

PER_SECOND = {"ms": 1e3, "µs": 1e6}
G80_BYTES_PER_S = 86.4e9
"""As Harris' slides give it: 384 bits at 900 MHz, two transfers per clock."""


@model()
def g80_bytes_once(size: float = 1 << 22) -> float:
    """Returns the ms that a G80 needs to bring `size` ints of 4 bytes once."""
    return 4 * size / G80_BYTES_PER_S * 1e3


@model()
def half_the_blocks(before_ms: float) -> float:
    """Returns the ms of a kernel that needs half as many blocks, each with the same steps."""
    return before_ms / 2


@model(unit=PER_SECOND)
def h100_bytes(size: float, itemsize: float, unit: float) -> float:
    """Returns how long an H100 takes to bring `size` elements of `itemsize` bytes once."""
    bandwidth = device("H100").bandwidth_bytes_per_s
    if bandwidth is None:
        raise CatalogueError("the card of the H100 has no bandwidth", "see hardware/cards.toml")
    return size * itemsize / bandwidth * unit
