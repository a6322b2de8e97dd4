"""What a data sheet alone says of matrix products and of shared memory."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.errors import CatalogueError
from gpu_course.hardware.datasheet import device

BYTES_OF_A_PASS = 128
"""32 banks, each four bytes wide."""


@model()
def h100_bf16_peak() -> float:
    """Returns what the data sheet of the H100 says of bf16 without sparsity, in TFLOP/s."""
    peak = device("H100").bf16_flop_per_s
    if peak is None:
        raise CatalogueError("the card of the H100 has no bf16 peak", "see hardware/cards.toml")
    return peak / 1e12


@model()
def a100_wave(blocks: float) -> float:
    """Returns how many tiles an A100 makes at once, with so many blocks on each SM."""
    count = device("A100").sm_count
    if count is None:
        raise CatalogueError("the card of the A100 has no SMs", "see hardware/cards.toml")
    return float(blocks * count)


@model()
def least_passes(lanes: float, bytes_each: float) -> float:
    """Returns the passes that a warp's bytes need where no two lanes meet in a bank."""
    return float(-(-lanes * bytes_each // BYTES_OF_A_PASS))
