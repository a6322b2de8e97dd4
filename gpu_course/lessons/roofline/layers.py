"""What the puzzles on a layer share: its widths, and wrong ways to count its bytes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Widths = tuple[float, float, float]
"""Bytes for each number of the batch, the weights and the result."""

Way = tuple[str, Callable[..., Any]]
"""The key of a diagnosis, and what an answer with that thought gives for the inputs."""


def widths(x_bits: int, w_bits: int, y_bits: int) -> Widths:
    """Returns bytes for bits: whole numbers as ints, half a byte as 0.5.

    >>> widths(16, 4, 16)
    (2, 0.5, 2)
    """
    return tuple(b // 8 if b % 8 == 0 else b / 8 for b in (x_bits, w_bits, y_bits))  # type: ignore[return-value]


def same(left: Any, right: Any) -> bool:
    """True for two numbers that differ by no more than the order of additions makes them."""
    plain = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (left, right))
    return plain and math.isclose(left, right, rel_tol=1e-9)
