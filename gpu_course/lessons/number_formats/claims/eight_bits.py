"""The simplest models of what eight bits gain: half the bytes, twice the rate."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import device
from gpu_course.units import TERA

REACHED = 0.9
"""Of the bandwidth on the data sheet: good kernels come to about that."""


def _intensity(m: float, n: float, k: float) -> float:
    """FLOP for each byte: one for each input, two for each result."""
    return 2 * m * n * k / (m * k + n * k + 2 * m * n)


@model("rate")
def fp8_product(m: float, n: float, k: float, best: float) -> float:
    """Returns the TFLOP/s of a product of E4M3 matrices with a bf16 result, under one roof.

    Args:
        m, n, k: sides.
        best: the most TFLOP/s that somebody else got from any fp8 product on such a chip.
    """
    bandwidth = device("H100").bandwidth_bytes_per_s
    assert bandwidth is not None
    return min(best, _intensity(m, n, k) * REACHED * bandwidth / TERA)


@model()
def fp8_bytes_rate(m: float, n: float, k: float, tflop_per_s: float) -> float:
    """Returns the GB/s at which such a product moves each array once, at a rate in TFLOP/s."""
    return tflop_per_s * 1e3 / _intensity(m, n, k)


@model()
def twice(bf16: float) -> float:
    """Returns twice a rate: half the bits, twice the numbers in each register."""
    return 2 * bf16


@model()
def as_products_gain(bf16: float, best_bf16: float, best_fp8: float) -> float:
    """Returns a training's tokens/s, if all of it gained what the best products gain."""
    return bf16 * best_fp8 / best_bf16


@model()
def same_work() -> float:
    """Returns the ratio of two kernels that do the same FLOP on the same numbers."""
    return 1.0


@model()
def scaled_cache_bytes(quantised: float, tile: float, plain: float) -> float:
    """Returns a token's bytes: fp8 numbers, a float32 for each tile of them, and bf16 numbers."""
    return quantised + 4 * quantised / tile + 2 * plain


@model()
def gpu_hours_of_tokens(trillions: float, hours_each: float) -> float:
    """Returns thousands of GPU hours."""
    return trillions * hours_each


@model()
def days_of_hours(gpu_hours: float, gpus: float) -> float:
    """Returns the days that so many GPUs take."""
    return gpu_hours / gpus / 24


@model()
def all_hours(training: float, context: float, after: float) -> float:
    """Returns the thousands of GPU hours of all parts."""
    return training + context + after


@model()
def price_of_hours(training: float, context: float, after: float, dollars: float) -> float:
    """Returns millions of dollars."""
    return all_hours(training, context, after) * dollars / 1000
