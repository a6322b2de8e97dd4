"""What DeepSeek's own numbers say of its training and of a day of its service."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.units import GIGA, MEGA, TERA

ACTIVE = 37 * GIGA
FP8 = 1979 * TERA
"""FLOP/s of an H800's tensor cores in fp8, which are those of an H100."""
PRICES = {"cached": 0.14, "read": 0.55, "written": 2.19}
"""Dollars for a million tokens."""


@model()
def deepseek_v3_teraflops(kilo_hours: float) -> float:
    """Returns TFLOP/s of a GPU: 6ND over the GPU hours of the training."""
    return 6 * ACTIVE * 14.8 * TERA / (kilo_hours * 1000 * 3600) / TERA


@model()
def day_of_nodes(nodes: float, dollars: float) -> float:
    """Returns dollars for a day of nodes with 8 GPUs."""
    return nodes * 8 * 24 * dollars


@model()
def day_of_tokens(cached: float, read: float, written: float) -> float:
    """Returns dollars for billions of tokens at the price list."""
    given = {"cached": cached, "read": read, "written": written}
    return sum(PRICES[name] * count * GIGA / MEGA for name, count in given.items())


@model()
def prefill_roof(cached_percent: float) -> float:
    """Returns thousands of tokens/s that a node can read at most, by FLOP alone."""
    return 8 * FP8 / (2 * ACTIVE * (1 - cached_percent / 100)) / 1000
