"""What several puzzles of lesson 33 count by."""

from __future__ import annotations

from fractions import Fraction


def ring_bytes(ranks: int, size_bytes: int | Fraction) -> Fraction:
    """Returns what each rank sends for an all-reduce in a ring.

    >>> ring_bytes(4, 1000)
    Fraction(1500, 1)
    """
    return Fraction(2 * (ranks - 1), ranks) * size_bytes
