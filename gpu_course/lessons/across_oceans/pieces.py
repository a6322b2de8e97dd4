"""What several puzzles of lesson 33 count by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def ring_bytes(ranks: int, size_bytes: int | Fraction) -> Fraction:
    """Returns what each rank sends for an all-reduce in a ring.

    >>> ring_bytes(4, 1000)
    Fraction(1500, 1)
    """
    return Fraction(2 * (ranks - 1), ranks) * size_bytes


def called(function: str, arguments: Mapping[str, Any]) -> str:
    """Returns a call as messages have it.

    >>> called("f", {"peak": 1e15, "spread": (0.25, 0.5), "stages": [{"tokens": 3.0}]})
    "f(peak=1e+15, spread=(0.25, 0.5), stages=[{'tokens': 3}])"
    """
    return f"{function}({', '.join(f'{name}={_told(value)}' for name, value in arguments.items())})"


def _told(value: Any) -> str:
    """Returns a value as it is written, with as few digits as say it exactly."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {_told(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_told, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))})"
    short = f"{value:g}" if isinstance(value, float) else ""
    return short if short and float(short) == value else repr(value)
