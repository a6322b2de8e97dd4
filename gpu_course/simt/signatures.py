"""What a signature given to `cuda.jit` says: the types its arguments and its result are cast to.

Numba converts a number to the type that the signature declares, so `"void(float32[:], float32)"`
makes a Python float a float32 in the kernel, and `"float32(float32)"` at a device function keeps a
float64 from spreading. The simulator does the same, and refuses what Numba cannot convert.

Conversions are rated as Numba rates them. A number may be promoted (int8 to int32), converted
safely (uint8 to int16) or unsafely (float64 to float32, int64 to int8). Of several signatures Numba
takes the one with the fewest unsafe conversions, then the fewest safe ones, then the fewest
promotions, then the first.

Source: Numba, "numba/core/typeconv/rules.py"; compared with it over all pairs in the tests.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt.constants import Symbol, as_dtype
from gpu_course.simt.types import ArrayType, TupleType, Type

EXACT, PROMOTE, SAFE, UNSAFE = range(4)

_PROMOTED = (
    "int8 int16", "int16 int32", "int32 int64", "uint8 uint16", "uint16 uint32", "uint32 uint64",
    "float16 float32", "float32 float64", "complex64 complex128",
)  # fmt: skip
_SAFE = (
    "bool int8", "bool uint8", "uint8 int16", "uint16 int32", "uint32 int64", "int8 float16",
    "int16 float32", "int32 float64", "int64 float64", "uint64 float64",
)  # fmt: skip
_UNSAFE = ("int16 float16", "int32 float32")
_ONE_WAY = ("float32 complex64", "float64 complex128")


@cache
def _numbers() -> dict[tuple[np.dtype[Any], np.dtype[Any]], int]:
    """The gentlest conversion between any two kinds of numbers, over steps in between."""
    found: dict[tuple[np.dtype[Any], np.dtype[Any]], int] = {}

    def step(pair: str, there: int, back: int | None) -> None:
        a, b = map(np.dtype, pair.split())
        found[a, b] = there
        if back is not None:
            found[b, a] = back

    for rank, pairs in ((PROMOTE, _PROMOTED), (SAFE, _SAFE), (UNSAFE, _UNSAFE)):
        for pair in pairs:
            step(pair, rank, UNSAFE)
    for pair in _ONE_WAY:
        step(pair, SAFE, None)
    dtypes = {a for pair in found for a in pair}
    for middle in dtypes:
        for a in dtypes:
            for b in dtypes:
                if (a, middle) in found and (middle, b) in found:
                    way = max(found[a, middle], found[middle, b])
                    found[a, b] = min(found.get((a, b), UNSAFE), way)
    return found | {(a, a): EXACT for a in dtypes}


def conversion(given: Type, wanted: Type) -> int | None:
    """Returns the rank of the conversion from one type to another, or None where there is none.

    >>> f32, f64 = np.dtype("float32"), np.dtype("float64")
    >>> conversion(f32, f64) == PROMOTE, conversion(f64, f32) == UNSAFE
    (True, True)
    >>> conversion(np.dtype("complex64"), f32) is None
    True
    """
    if isinstance(given, np.dtype) and isinstance(wanted, np.dtype):
        return EXACT if given == wanted else _numbers().get((given, wanted))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        alike = (given.dtype, given.ndim) == (wanted.dtype, wanted.ndim)
        return EXACT if alike else None
    if isinstance(given, TupleType) and isinstance(wanted, TupleType):
        if len(given.elements) != len(wanted.elements):
            return None
        ranks = [conversion(g, w) for g, w in zip(given.elements, wanted.elements, strict=True)]
        return None if None in ranks else max([EXACT, *(r for r in ranks if r is not None)])
    return EXACT if given is None and wanted is None else None


def rating(given: Sequence[Type], wanted: Sequence[Type]) -> tuple[int, int, int] | None:
    """Returns how well arguments fit a signature, less is better; None where they do not."""
    if len(given) != len(wanted):
        return None
    ranks = [conversion(g, w) for g, w in zip(given, wanted, strict=True)]
    if None in ranks:
        return None
    return ranks.count(UNSAFE), ranks.count(SAFE), ranks.count(PROMOTE)


MOST_SHOWN = 100


class _Anything:
    """A type the simulator cannot read: it takes any argument as it is."""

    def __repr__(self) -> str:
        return "None"


ANYTHING: Any = _Anything()


@dataclass(frozen=True)
class Signature:
    """One declared signature.

    Attributes:
        parameters: the type of each argument; ANYTHING where the simulator cannot read it.
        result: what it returns, None for void; ANYTHING where nothing is declared.
    """

    parameters: tuple[Type, ...]
    result: Type = ANYTHING

    def __str__(self) -> str:
        return f"({', '.join(map(show, self.parameters))})"

    def rate(self, given: Sequence[Type]) -> tuple[int, int, int] | None:
        """Returns how well arguments of these types fit, less is better; None: not at all."""
        if len(given) != len(self.parameters):
            return None
        known = [(g, p) for g, p in zip(given, self.parameters, strict=True) if p is not ANYTHING]
        return rating([g for g, _ in known], [p for _, p in known])

    def converted(self, given: Sequence[Type]) -> tuple[Type, ...]:
        """Returns the types the arguments are cast to."""
        return tuple(
            g if p is ANYTHING else _kept(g, p) for g, p in zip(given, self.parameters, strict=True)
        )

    def returns(self, found: Type) -> Type:
        """Returns the type of the result of a body that returns `found`.

        Raises:
            CourseError: nothing converts one to the other.
        """
        if self.result is ANYTHING:
            return found
        if conversion(found, self.result) is None:
            raise CourseError(f"returns {show(found)}, and its signature {show(self.result)}")
        return _kept(found, self.result)


def _kept(given: Type, declared: Type) -> Type:
    """An array stays the one it is, with the place it lies in."""
    return given if isinstance(given, ArrayType) else declared


def show(type_: Type) -> str:
    """Returns a type as a signature spells it.

    >>> import numpy as np
    >>> show(ArrayType(np.dtype("float32"), 2)), show(np.dtype("int32")), show(None)
    ('float32[:, :]', 'int32', 'void')
    """
    if isinstance(type_, ArrayType):
        return f"{type_.dtype}[{', '.join(':' * type_.ndim)}]"
    return "void" if type_ is None else str(type_)


def signatures(given: Any) -> tuple[Signature, ...]:
    """Returns what was declared, one Signature for each.

    Args:
        given: a string, a Numba signature, a tuple of Numba types, or a list of these.

    Raises:
        CourseError: a string that is not a signature.

    >>> [str(s) for s in signatures("void(float32[:, ::1], int32)")]
    ['(float32[:, :], int32)']
    """
    if isinstance(given, list):
        return tuple(one for part in given for one in signatures(part))
    if isinstance(given, str):
        return (_from_text(given),)
    arguments = tuple(_from_type(a) for a in getattr(given, "args", given))
    if hasattr(given, "return_type") and given.return_type is not None:
        return (Signature(arguments, _from_type(given.return_type)),)
    return (Signature(arguments),)


def best(declared: Sequence[Signature], given: Sequence[Type]) -> Signature | None:
    """Returns the signature Numba takes for arguments of these types, or None where none fits."""
    rated = [(s.rate(given), s) for s in declared]
    fitting = [(rate, s) for rate, s in rated if rate is not None]
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _from_text(text: str) -> Signature:
    try:
        found = from_node(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    if found is None:
        raise CourseError(
            f'"{text[:MOST_SHOWN]}" is not a signature', 'write it like "void(float32[:], int32)"'
        )
    return found


def from_node(node: ast.expr) -> Signature | None:
    """Returns the signature an expression spells: `float32(int32)`, `(int32, int32)`, `int32`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _from_text(node.value)
    if isinstance(node, ast.Call):
        return Signature(tuple(map(_type_of_node, node.args)), _type_of_node(node.func))
    if isinstance(node, ast.Tuple):
        return Signature(tuple(map(_type_of_node, node.elts)))
    if isinstance(node, ast.Name | ast.Subscript | ast.Attribute):
        return Signature((_type_of_node(node),))
    return None


def _type_of_node(node: ast.expr) -> Type:
    ndim = 0
    if isinstance(node, ast.Subscript):
        axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        ndim, node = len(axes), node.value
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return _type(name, ndim)


def _from_type(type_: Any) -> Type:
    if hasattr(type_, "dtype") and hasattr(type_, "ndim"):
        return _type(str(type_.dtype), type_.ndim)
    return _type(str(type_), 0)


def _type(name: str, ndim: int) -> Type:
    if name in ("void", "none"):
        return None
    dtype = as_dtype(Symbol("numba.boolean" if name == "bool" else f"numba.{name}"))
    if dtype is None:
        return ANYTHING  # type: ignore[no-any-return]
    return ArrayType(dtype, ndim) if ndim else dtype
