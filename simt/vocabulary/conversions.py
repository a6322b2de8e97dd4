"""`cuda.libdevice`'s conversions: the bits of numbers, and numbers rounded in a named direction.

The ending says where to: `_rn` to the nearest, ties to even, `_rz` towards zero, `_ru` up, `_rd`
down. A whole number that the result cannot hold becomes the nearest one that it can. Unsigned
results are the bits of Numba's int32 or int64, as libdevice declares them there.

Source: NVIDIA, "PTX ISA", cvt: what NaN becomes; numba-cuda 0.30, "numba/cuda/libdevicefuncs.py".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simt.kernel.types import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from simt.machine.values import Value, held

Dtype = np.dtype[Any]
Conversion = tuple[list[Dtype], Dtype, Callable[..., Value]]

_INT16, _FLOAT16 = np.dtype(np.int16), np.dtype(np.float16)
_WHOLE = {"n": np.rint, "z": np.trunc, "u": np.ceil, "d": np.floor}


def _bits(as_: Dtype) -> Callable[[Value], Value]:
    return lambda x: x.view(as_)


def _to_whole(way: str, given: Dtype, to: Dtype) -> Callable[[Value], Value]:
    """A float as a whole number: rounded, then held within what the result can hold."""
    signed = np.dtype(f"int{8 * to.itemsize}")
    return lambda x: held(_WHOLE[way](x), given, to).view(signed)


def _directed(way: str, nearest: Value, error: Value) -> Value:
    """The neighbour that a direction asks for; `error` has the sign of nearest - exact."""
    if way == "n":
        return nearest
    kind = nearest.dtype.type
    down = (error > 0) & ((way == "d") | ((way == "z") & (nearest > 0)))
    up = (error < 0) & ((way == "u") | ((way == "z") & (nearest < 0)))
    lower = np.nextafter(nearest, kind(-np.inf))
    return np.where(down, lower, np.where(up, np.nextafter(nearest, kind(np.inf)), nearest))[()]


def _from_double(way: str) -> Callable[[Value], Value]:
    def convert(x: Value) -> Value:
        nearest = x.astype(FLOAT32)
        wide = nearest.astype(FLOAT64)
        # Compared, since the difference of two infinities is no number.
        return _directed(way, nearest, np.subtract(wide > x, wide < x, dtype=np.int8))

    return convert


def _from_whole(way: str, given: Dtype, to: Dtype) -> Callable[[Value], Value]:
    """A whole number as a float."""

    def convert(x: Value) -> Value:
        exact = x.view(given)
        nearest = exact.astype(to)
        wide = exact.astype(UINT64 if given == UINT64 else INT64)
        # In two halves each step is exact in float64, and no whole number overflows.
        half = wide.dtype.type(32)
        high = (wide >> half).astype(FLOAT64) * 2.0**32
        low = (wide & wide.dtype.type(0xFFFFFFFF)).astype(FLOAT64)
        return _directed(way, nearest, nearest.astype(FLOAT64) - high - low)

    return convert


def _high(x: Value) -> Value:
    return (x.view(INT64) >> np.int64(32)).astype(INT32)


def _low(x: Value) -> Value:
    return x.view(INT64).astype(INT32)


def _of_halves(high: Value, low: Value) -> Value:
    upper = high.astype(INT64) << np.int64(32)
    return (upper | low.view(UINT32).astype(INT64)).view(FLOAT64)


def _rounded() -> dict[str, Conversion]:
    found: dict[str, Conversion] = {}
    wholes = (("int", INT32), ("uint", UINT32), ("ll", INT64), ("ull", UINT64))
    for name, whole in wholes:
        signed = np.dtype(f"int{8 * whole.itemsize}")
        for float_name, float_ in (("float", FLOAT32), ("double", FLOAT64)):
            for way in _WHOLE:
                there = [float_], signed, _to_whole(way, float_, whole)
                found[f"{float_name}2{name}_r{way}"] = there
                if whole.itemsize == 4 and float_ == FLOAT64 and way != "n":
                    continue  # a double holds every int: there is nothing to round
                back = [signed], float_, _from_whole(way, whole, float_)
                found[f"{name}2{float_name}_r{way}"] = back
    for way in _WHOLE:
        found[f"double2float_r{way}"] = [FLOAT64], FLOAT32, _from_double(way)
    return found


CONVERSIONS: dict[str, Conversion] = {
    "float_as_int": ([FLOAT32], INT32, _bits(INT32)),
    "int_as_float": ([INT32], FLOAT32, _bits(FLOAT32)),
    "double_as_longlong": ([FLOAT64], INT64, _bits(INT64)),
    "longlong_as_double": ([INT64], FLOAT64, _bits(FLOAT64)),
    "double2hiint": ([FLOAT64], INT32, _high),
    "double2loint": ([FLOAT64], INT32, _low),
    "hiloint2double": ([INT32] * 2, FLOAT64, _of_halves),
    "half2float": ([_INT16], FLOAT32, lambda x: x.view(_FLOAT16).astype(FLOAT32)),
    "float2half_rn": ([FLOAT32], _INT16, lambda x: x.astype(_FLOAT16).view(_INT16)),
    **_rounded(),
}
