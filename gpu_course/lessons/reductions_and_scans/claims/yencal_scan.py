"""What the bytes alone say of the scans that yencal measured."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.errors import CatalogueError
from gpu_course.hardware.datasheet import device


@model()
def h100_scan_ms(length: float, words: float) -> float:
    """Returns how long an H100 takes to move so many 4-byte words for each number of a scan."""
    bandwidth = device("H100").bandwidth_bytes_per_s
    if bandwidth is None:
        raise CatalogueError("the card of the H100 has no bandwidth", "see hardware/cards.toml")
    return 4 * words * length / bandwidth * 1e3
