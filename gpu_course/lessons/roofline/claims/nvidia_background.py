"""FLOP for each byte of operations on 16-bit numbers."""

from __future__ import annotations

from gpu_course.claims.models import model

WIDTH = 2


@model()
def linear_intensity(rows: float) -> float:
    """Returns that of a layer with 1,024 inputs and 4,096 outputs, each array moved once."""
    inputs, outputs = 1024, 4096
    moved = WIDTH * (rows * inputs + inputs * outputs + rows * outputs)
    return 2 * rows * inputs * outputs / moved


@model()
def per_number(flop: float) -> float:
    """Returns that of an operation that reads each number once and writes one for it."""
    return flop / (2 * WIDTH)
