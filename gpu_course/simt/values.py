"""Arithmetic on values: scalars where all lanes agree, vectors where they do not."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_course.simt import types
from gpu_course.simt.faults import CannotGoOn
from gpu_course.simt.lanes import Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.types import FLOAT32, Type
from gpu_course.simt.variables import Value


def _floor_divide(a: Value, b: Value) -> Value:
    return np.floor_divide(a, b)


def _power(a: Value, b: Value) -> Value:
    if np.asarray(b).dtype.kind == "f" or not np.any(np.asarray(b) < 0):
        return np.power(a, b)
    # 1 / a ** -b truncates to 0 unless a is 1 or -1.
    tiny = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, tiny, np.power(a, np.maximum(b, 0)))[()]


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": _floor_divide, "Mod": np.remainder, "Pow": _power,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "LShift": np.left_shift, "RShift": np.right_shift,
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
FLOAT_OPERATIONS = frozenset(("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow"))


def fits_float32(value: Value) -> bool:
    """True for float32 lanes, and for a constant that float32 holds exactly."""
    if isinstance(value, np.ndarray):
        return value.dtype == FLOAT32
    return bool(value.dtype == FLOAT32 or np.float32(value) == value)


def type_of(value: Value) -> Any:
    """Returns the type of a value; a string, which can only be printed, stands for itself."""
    if isinstance(value, str):
        return value
    if isinstance(value, Array):
        return types.ArrayType(value.dtype, len(value.shape), value.space)
    if isinstance(value, tuple):
        return types.TupleType(tuple(map(type_of, value)))
    if value is None or isinstance(value, types.FunctionType):
        return value
    return value.dtype  # type: ignore[no-any-return]


def merge(active: np.ndarray, new: Value, old: Value) -> Value:
    """Returns the new value in the active lanes, the old one in the others."""
    if isinstance(new, tuple):
        return type(new)(merge(active, n, o) for n, o in zip(new, old, strict=True))
    if isinstance(new, Array | Several):
        return _merge_arrays(active, new, old)
    if new is None or isinstance(new, types.FunctionType):
        return new
    return np.where(active, new, old)


@dataclass(frozen=True, eq=False)
class Several:
    """One name for several arrays, each in some of the threads: `now, after = after, now`.

    Attributes:
        parts: the lanes, bool, and the array that they have.
    """

    parts: tuple[tuple[np.ndarray, Array], ...]


def _merge_arrays(active: np.ndarray, new: Array | Several, old: Array | Several) -> Value:
    if new is old:
        return new
    parts = [(lanes & ~active, array) for lanes, array in _parts(old, active)]
    for lanes, array in _parts(new, active):
        lanes = lanes & active
        # Views of one memory are one array, whose origin, shape and steps each lane has of its own.
        like = next((k for k, (_, known) in enumerate(parts) if known.flat is array.flat), None)
        if like is None:
            parts.append((lanes, array))
        else:
            others, known = parts[like]
            parts[like] = others | lanes, _merge_views(lanes, array, known)
    kept = tuple(part for part in parts if part[0].any())
    return kept[0][1] if len(kept) == 1 else Several(kept)


def _parts(value: Array | Several, lanes: np.ndarray) -> tuple[tuple[np.ndarray, Array], ...]:
    return value.parts if isinstance(value, Several) else ((np.ones_like(lanes), value),)


def _merge_views(active: np.ndarray, new: Array, old: Array) -> Array:
    if new is old:
        return new
    shape = tuple(_where(active, n, o) for n, o in zip(new.shape, old.shape, strict=True))
    strides = tuple(_where(active, n, o) for n, o in zip(new.strides, old.strides, strict=True))
    origin = _where(active, new.origin, old.origin)
    pairs = ((name, part, old.fields[name]) for name, part in new.fields.items())
    fields = {name: _merge_views(active, part, known) for name, part, known in pairs}
    # One of them may be the whole array, whose cells are not a view's.
    whole = replace(new, root=new.root or new, contiguous=False)
    return replace(whole, shape=shape, strides=strides, origin=origin, fields=fields)


def settled(value: Value, lanes: np.ndarray) -> Value:
    """Returns a value as some lanes have it: of several arrays under one name, the one they mean.

    Raises:
        MixedArrays: they mean more than one.
    """
    if isinstance(value, tuple):
        parts = tuple(settled(part, lanes) for part in value)
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    if not isinstance(value, Several):
        return value
    meant = [array for its, array in value.parts if its[lanes].any()]
    if len(meant) > 1:
        raise MixedArrays(meant[0].name, meant[1].name)
    return meant[0] if meant else value.parts[0][1]


class MixedArrays(Exception):
    """A value that is one array in some threads and another one in others; their names."""


def _where(active: np.ndarray, new: Value, old: Value) -> Value:
    """One number per lane, or the one number that both are."""
    vectors = isinstance(new, np.ndarray) or isinstance(old, np.ndarray)
    return np.where(active, new, old) if vectors or new != old else new


def poison(type_: Type) -> Value:
    """Returns a value of a type for lanes that have none.

    Raises:
        CannotGoOn: an array, for which nothing can stand.
    """
    if isinstance(type_, types.ArrayType):
        raise CannotGoOn
    if type_ is None or isinstance(type_, types.FunctionType):
        return type_
    if isinstance(type_, types.TupleType):
        return tuple(poison(t) for t in type_.elements)
    assert isinstance(type_, np.dtype)
    return type_.type(0)


def pick(value: Value, mask: Mask) -> Value:
    """Returns the active lanes of a value; a scalar stays one."""
    if not isinstance(value, np.ndarray) or mask.full:
        return value
    return value[mask.lanes]


def ravel(indices: Sequence[Value], strides: tuple[Any, ...]) -> Value:
    """Returns the flat index of a multi-dimensional one."""
    total = None
    for index, stride in zip(indices, strides, strict=True):
        part = index if isinstance(stride, int) and stride == 1 else index * stride
        total = part if total is None else total + part
    return total
