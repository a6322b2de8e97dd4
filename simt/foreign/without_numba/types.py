"""Numba's types as scripts write them: `float32`, `int32[:, ::1]`, `void(float32[:], int64)`.

Nothing compiles for them here. They say what a signature declares, what a kernel's own array holds,
and, called with a number, convert it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.foreign.kernel_names import needs_numba
from simt.kernel.constants import Symbol, as_dtype

NAMES = tuple(
    """int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp float32 float64 complex64
    complex128 boolean bool_ char uchar short ushort int_ longlong ulonglong double void none
    b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16""".split()
)
"""What `from numba import *` gives of them."""


class Type:
    """What all types can do: called, they give a signature; indexed, an array of themselves."""

    def __call__(self, *given: Any) -> Any:
        """Returns the signature of a function that gives this type; of a number, its value."""
        if len(given) == 1 and not isinstance(given[0], Type):
            return self.cast_python_value(given[0])
        return Signature(given, self)

    def __getitem__(self, axes: Any) -> Array:
        slices = axes if isinstance(axes, tuple) else (axes,)
        if not all(isinstance(s, slice) and s.start is None and s.stop is None for s in slices):
            raise KeyError(
                f"Can only index numba types with slices with no start or stop, got {axes}."
            )
        fortran = slices[0].step == 1 and len(slices) > 1
        return Array(self, len(slices), "C" if slices[-1].step == 1 else "FA"[not fortran])

    # Without it, Python would ask for `type[0]`, `type[1]` and so on.
    __iter__ = None

    def cast_python_value(self, value: Any) -> Any:
        """Returns a number as one of this type."""
        raise NotImplementedError(f"{self} holds no number")


class Scalar(Symbol, Type):
    """A type of numbers. A kernel that names it gets the Symbol it is."""

    @property
    def name(self) -> str:
        """What messages and signatures call it."""
        return str(as_dtype(self))

    @property
    def bitwidth(self) -> int:
        """How many bits a number of it takes."""
        dtype = as_dtype(self)
        assert dtype is not None
        return 8 * dtype.itemsize

    def cast_python_value(self, value: Any) -> Any:
        dtype = as_dtype(self)
        assert dtype is not None
        return bool(value) if dtype.kind == "b" else dtype.type(value)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


class Nothing(Type):
    """What a kernel returns."""

    def __str__(self) -> str:
        return "none"

    __repr__ = __str__


void = none = Nothing()


class Signature:
    """The types of a function's arguments, and of what it returns."""

    def __init__(self, args: Sequence[Type], return_type: Type) -> None:
        self.args = tuple(args)
        self.return_type = return_type

    def __repr__(self) -> str:
        return f"{self.args} -> {self.return_type}"


class Array(Type):
    """An array of a type, of a number of dimensions, in C order, in Fortran's or in any (A)."""

    def __init__(self, dtype: Type, ndim: int, layout: str) -> None:
        self.dtype, self.ndim, self.layout = dtype, ndim, layout

    def __repr__(self) -> str:
        return f"array({self.dtype}, {self.ndim}d, {self.layout})"


class UniTuple(Type):
    """A tuple of so many values of one type."""

    def __init__(self, dtype: Type, count: int) -> None:
        self.dtype, self.count = dtype, count

    def __repr__(self) -> str:
        return f"UniTuple({self.dtype} x {self.count})"


class Tuple(Type):
    """A tuple of values of these types."""

    def __init__(self, types: Sequence[Type]) -> None:
        self.types = tuple(types)

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(str, self.types))})"


class Record(Type):
    """A structure, as NumPy describes it: `dtype` and `fields` are NumPy's."""

    # A kernel tells by this that it may look at the dtype.
    __module__ = "numba.core.types"

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype, self.fields = dtype, dtype.fields

    def __repr__(self) -> str:
        return f"Record({self.dtype})"


def named(name: str) -> Type | None:
    """Returns the type that Numba calls so; None where it is none that a kernel takes.

    >>> named("f4"), named("float32")[:, ::1], named("float32")(3)
    (float32, array(float32, 2d, C), np.float32(3.0))
    """
    if name in ("void", "none"):
        return void
    dtype = as_dtype(Symbol(f"numba.{name}"))
    if dtype is None:
        return None
    return Scalar("numba.boolean" if dtype.kind == "b" else f"numba.{dtype.name}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    found = named(name)
    if found is None:
        raise needs_numba(f"numba.types.{name}")
    return found
