"""What the puzzles on a layer share: its widths."""

from __future__ import annotations

Widths = tuple[float, float, float]
"""Bytes for each number of the batch, the weights and the result."""


def widths(x_bits: int, w_bits: int, y_bits: int) -> Widths:
    """Returns bytes for bits: whole numbers as ints, half a byte as 0.5.

    >>> widths(16, 4, 16)
    (2, 0.5, 2)
    """
    return tuple(b // 8 if b % 8 == 0 else b / 8 for b in (x_bits, w_bits, y_bits))  # type: ignore[return-value]
