"""Numba's whole numbers for the oracles: conversions that wrap, and the bits of a float32."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np


class Whole:
    """A whole number of so many bits, as a conversion; what it gives is Python's own int.

    >>> Whole(32)(-1), Whole(32, signed=True)(2**31)
    (4294967295, -2147483648)
    """

    def __init__(self, bits: int, *, signed: bool = False) -> None:
        self._count, self._lowest = 1 << bits, -(1 << bits - 1) if signed else 0

    def __call__(self, number: Any) -> int:
        return (int(number) - self._lowest) % self._count + self._lowest


NAMES: dict[str, Any] = {
    "int32": Whole(32, signed=True),
    "uint8": Whole(8),
    "uint16": Whole(16),
    "uint32": Whole(32),
    "uint64": Whole(64),
}
"""What a kernel's text may call them."""


def dtype_of(kind: Any) -> Any:
    """Returns the dtype of an array: Python's own numbers where a kernel says one of NAMES."""
    return object if isinstance(kind, Whole) else kind


LIBDEVICE = SimpleNamespace(
    float_as_int=lambda x: struct.unpack("<i", np.float32(x).tobytes())[0],
    int_as_float=lambda bits: np.frombuffer(struct.pack("<i", int(bits)), np.float32)[0],
)
"""What the solutions call of `cuda.libdevice`."""
