"""Arithmetic on values: scalars where all lanes agree, vectors where they do not."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt import types
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
    if isinstance(new, Array):
        return _merge_views(active, new, old)
    if new is None or isinstance(new, types.FunctionType):
        return new
    return np.where(active, new, old)


def _merge_views(active: np.ndarray, new: Array, old: Array) -> Array:
    if new is old:
        return new
    if new.flat is not old.flat:
        raise CourseError(
            f"one name stands for {new.name} in some threads and for {old.name} in others",
            "give them different names",
        )
    shape = tuple(_where(active, n, o) for n, o in zip(new.shape, old.shape, strict=True))
    strides = tuple(_where(active, n, o) for n, o in zip(new.strides, old.strides, strict=True))
    origin = _where(active, new.origin, old.origin)
    return replace(new, shape=shape, strides=strides, origin=origin)


def _where(active: np.ndarray, new: Value, old: Value) -> Value:
    """One number per lane, or the one number that both are."""
    vectors = isinstance(new, np.ndarray) or isinstance(old, np.ndarray)
    return np.where(active, new, old) if vectors or new != old else new


def poison(type_: Type) -> Value:
    """Returns a value of a type for lanes that have none."""
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
