"""Values and what is done with them: scalars where all lanes agree, vectors where they do not."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from simt.kernel import types
from simt.kernel.types import BOOL, FLOAT32, TupleType, Type
from simt.machine.faults import CannotGoOn
from simt.machine.lanes import Mask
from simt.machine.memory import Array

Value = Any
"""A NumPy scalar where all lanes agree, else a vector, one entry per lane; or a tuple of them."""


@dataclass
class Variable:
    """A local variable: its value, and the lanes that have assigned it (None: all of them)."""

    value: Value
    defined: np.ndarray | None

    def under(self, mask: Mask) -> Value:
        """Returns the value as the lanes of a mask have it; what others have is left open."""
        return self.value


class Reassigned(Variable):
    """A variable that some lanes have assigned anew.

    Most are read by these alone, to whom one number for all stays one. What the others have is
    brought together with it where somebody asks.

    Args:
        mask: the lanes that have assigned it last.
        new: what they have.
        old: what the others have.
        defined: see Variable.
    """

    def __init__(self, mask: Mask, new: Value, old: Value, defined: np.ndarray | None) -> None:
        self.mask, self.new, self.old, self.defined = mask, new, old, defined
        self._within = mask
        self._merged: Value = None

    @property
    def value(self) -> Value:  # type: ignore[override]
        """What each lane has."""
        if self._merged is None:
            self._merged = merge(self.mask.active, self.new, self.old)
        return self._merged

    def under(self, mask: Mask) -> Value:
        """Returns the value as the lanes of a mask have it."""
        if mask is self._within or mask is self.mask:
            return self.new
        if np.count_nonzero(mask.active & ~self.mask.active):
            return self.value
        self._within = mask
        return self.new


def rounded_once(function: Callable[..., Value]) -> Callable[..., Value]:
    """Returns a function whose float32 results are worked out in float64, and rounded at the end.

    The last bits of NumPy's own float32 loops depend on the vector instructions of the processor.

    >>> float(rounded_once(np.exp)(np.float32(1)) - np.float32(np.e))
    0.0
    """

    def computed(*arguments: Value) -> Value:
        if any(a.dtype != FLOAT32 for a in arguments):
            return function(*arguments)
        return function(*(a.astype(np.float64) for a in arguments)).astype(FLOAT32)

    return computed


_raised = rounded_once(np.power)


def _floor_divide(a: Value, b: Value) -> Value:
    return np.floor_divide(a, b)


def _power(a: Value, b: Value) -> Value:
    if np.asarray(b).dtype.kind == "f" or not np.any(np.asarray(b) < 0):
        return _raised(a, b)
    # 1 / a ** -b truncates to 0 unless a is 1 or -1.
    tiny = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, tiny, np.power(a, np.maximum(b, 0)))[()]


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": _floor_divide, "Mod": np.remainder, "Pow": _power,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "LShift": np.left_shift, "RShift": np.right_shift,
}  # fmt: skip
"""The operators by the names of their classes in `ast`."""
COMPARE: dict[str, Callable[[Value, Value], Value]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le,
    "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip
_FLOAT_OPERATIONS = frozenset(("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow"))


def cast(value: Value, dtype: Type) -> Value:
    """Returns a value converted to a dtype as a GPU would convert it; tuples part by part.

    >>> cast(np.float64(2.5), np.dtype("int64")), cast(np.float64(-3e9), np.dtype("int32"))
    (np.int64(2), np.int32(-2147483648))
    """
    if getattr(value, "dtype", None) is dtype:
        return value  # as most are
    if isinstance(dtype, TupleType):
        return tuple(cast(v, t) for v, t in zip(value, dtype.elements, strict=True))
    if not isinstance(dtype, np.dtype) or value.dtype == dtype:
        return value  # an array, a function or None is what it is
    if dtype == BOOL:
        return value != 0
    if value.dtype.kind == "f" and dtype.kind in "iu":
        return cut(value, dtype)
    return value.astype(dtype)


def cut(value: Value, dtype: np.dtype[Any]) -> Value:
    """Returns floats as whole numbers, cut off towards zero, as PTX's `cvt.rzi` does.

    What does not fit becomes the nearest number that does, where C and NumPy promise nothing. NaN
    becomes 0 if neither side has 64 bits, else the highest bit alone. There is no conversion to
    8 bits: those are the lowest of 16.

    Source: NVIDIA, "PTX ISA" 9.0, 9.7.9.21, cvt.

    >>> cut(np.array([-1.5, 3e9, np.nan], np.float32), np.dtype(np.int32)).tolist()
    [-1, 2147483647, 0]
    >>> cut(np.float64(300.5), np.dtype(np.uint8)), cut(np.float32("nan"), np.dtype(np.int64))
    (np.uint8(44), np.int64(-9223372036854775808))
    """
    if value.dtype.itemsize == 2:
        value = value.astype(FLOAT32)  # so that the bounds are no infinities
    if dtype.itemsize == 1:
        return cut(value, np.dtype(np.int16 if dtype.kind == "i" else np.uint16)).astype(dtype)
    return held(np.trunc(value), value.dtype, dtype)


def held(whole: Value, given: np.dtype[Any], to: np.dtype[Any]) -> Value:
    """Returns whole numbers that are floats in a type of 16 bits or more; see `cut`.

    Args:
        whole: what is left once the floats were rounded.
        given: the type they had.
        to: the type they are to have.
    """
    bounds = np.iinfo(to)
    # Both are powers of two or 0, so any float of 32 bits holds them.
    least, beyond = float(bounds.min), float(int(bounds.max) + 1)
    fits = (whole >= least) & (whole < beyond)
    if fits.all():
        return whole.astype(to)
    nan = 0 if given.itemsize < 8 and to.itemsize < 8 else 1 << (8 * to.itemsize - 1)
    found = np.where(fits, whole, 0).astype(to)
    found = np.where(whole < least, bounds.min, np.where(whole >= beyond, bounds.max, found))
    return np.where(np.isnan(whole), np.array(nan, np.uint64).astype(to), found).astype(to)[()]


def truth(value: Value) -> Value:
    """Returns a value as a condition: bool, true where it is not zero."""
    return value if value.dtype == BOOL else value != 0


def counted_as(name: str, result: Type) -> str:
    """Returns the kind of floating-point operation that an operator is; "" for none."""
    if name not in _FLOAT_OPERATIONS or not isinstance(result, np.dtype):
        return ""
    if result.kind != "f" or result.itemsize < 4:
        return ""
    return "float64" if result.itemsize == 8 else "float32"


def binary(name: str, left: Value, right: Value, result: Type) -> Value:
    """Returns left op right, worked out in a type; tuples are joined."""
    if isinstance(left, tuple):
        return left + right
    # Asked here first, since most are of the type they are to have.
    left = left if left.dtype is result else cast(left, result)
    right = right if right.dtype is result else cast(right, result)
    found = BINARY[name](left, right)
    return found if found.dtype is result else cast(found, result)


def unary(name: str, operand: Value, result: Type) -> Value:
    """Returns -operand and its kin: worked out in the operand's own width, then widened."""
    if name == "Not":
        return np.logical_not(truth(operand))
    if name == "USub":
        operand = -(operand.astype(np.int8) if operand.dtype == BOOL else operand)
    elif name == "Invert":
        operand = ~operand
    return cast(operand, result)


def compare(name: str, left: Value, right: Value) -> Value:
    """Returns left op right, as bool: of numbers, tuples and None."""
    if left is None or right is None:
        same = left is None and right is None
        return np.bool_(same is (name in ("Is", "Eq")))
    if isinstance(right, tuple):
        return _compare_tuples(name, left, right)
    if left.dtype is right.dtype and name in COMPARE:
        return COMPARE[name](left, right)
    if name in ("Is", "IsNot"):
        if left.dtype != right.dtype:
            return np.bool_(name == "IsNot")
        name = "Eq" if name == "Is" else "NotEq"
    if left.dtype.kind in "fc" or right.dtype.kind in "fc":
        common = types.arithmetic(left.dtype, right.dtype)
        left, right = cast(left, common), cast(right, common)
    return COMPARE[name](left, right)


def _compare_tuples(name: str, left: Value, right: tuple[Value, ...]) -> Value:
    """x in (a, b), or (a, b) < (c, d): the first place that differs decides."""
    if name in ("In", "NotIn"):
        among = reduce(np.logical_or, [compare("Eq", left, each) for each in right])
        return among if name == "In" else np.logical_not(among)
    pairs: list[tuple[Value, Value]] = list(zip(left, right, strict=False))
    equal = [compare("Eq", one, other) for one, other in pairs]
    if name in ("Eq", "NotEq"):
        same = reduce(np.logical_and, equal, np.bool_(len(left) == len(right)))
        return same if name == "Eq" else np.logical_not(same)
    found: Value = COMPARE[name](np.int64(len(left)), np.int64(len(right)))
    for (one, other), same in zip(reversed(pairs), reversed(equal), strict=True):
        found = np.asarray(np.where(same, found, compare(name, one, other)))[()]
    return found


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
    if value is None or isinstance(value, types.Held):
        return value
    return value.dtype  # type: ignore[no-any-return]


def merge(active: np.ndarray, new: Value, old: Value) -> Value:
    """Returns the new value in the active lanes, the old one in the others."""
    if isinstance(new, tuple):
        return type(new)(merge(active, n, o) for n, o in zip(new, old, strict=True))
    if isinstance(new, Array | Several):
        return _merge_arrays(active, new, old)
    if new is None or isinstance(new, types.Held):
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
    if new.nowhere is not None or old.nowhere is not None:
        nobody = np.zeros_like(active)
        lost = (nobody if each.nowhere is None else each.nowhere for each in (new, old))
        whole = replace(whole, nowhere=np.where(active, *lost))
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
    if type_ is None or isinstance(type_, types.Held):
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
    return np.int64(0) if total is None else total
