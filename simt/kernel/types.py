"""The types Numba gives to values, and the rules by which operators and signatures combine them.

A scalar's type is a NumPy dtype. Arrays and tuples have types of their own. The rules are Numba's,
not NumPy's: integers widen to 64 bits under arithmetic, and float32 meets a 32- or 64-bit integer
in float64.

A signature given to `cuda.jit` converts: `"void(float32[:], float32)"` makes a Python float a
float32 in the kernel, and `"float32(float32)"` at a device function keeps a float64 from spreading.
Of several signatures Numba takes the one with the fewest unsafe conversions (float64 to float32,
int64 to int8), then the fewest safe ones (uint8 to int16), then the fewest promotions (int8 to
int32), then the first. What Numba cannot convert is refused.

Source: Numba reference manual, "Numeric promotion in Numba", and "Numba Enhancement Proposal 1:
Changes in integer typing"; Numba, "numba/core/typeconv/rules.py". Checked against `numba.njit` and
over all pairs in the tests.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeGuard

import numpy as np

from simt.errors import UserError
from simt.kernel.constants import MAX_NESTED, Symbol, as_dtype

MAX_VALUES = 1024

BOOL = np.dtype(np.bool_)
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
UINT16 = np.dtype(np.uint16)
UINT32 = np.dtype(np.uint32)
UINT64 = np.dtype(np.uint64)
FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class ArrayType:
    """An array in GPU memory: element dtype, number of dimensions, and where it lives."""

    dtype: np.dtype[Any]
    ndim: int
    space: str = "global"

    def like(self, other: ArrayType) -> bool:
        """True when the two differ at most in where they live."""
        return (self.dtype, self.ndim) == (other.dtype, other.ndim)

    def __str__(self) -> str:
        return f"array({self.dtype}, {self.ndim}d)"


@dataclass(frozen=True)
class TupleType:
    """A tuple of values, each of its own type; a named tuple has names for them as well.

    Raises:
        TooLarge: a tuple nested too deeply, or with too much in it. Twenty lines of `t = (t, t)`
            say a million values.
    """

    elements: tuple[Type, ...]
    names: tuple[str, ...] = ()
    size: int = field(init=False, compare=False, repr=False)
    depth: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        inner = [e for e in self.elements if isinstance(e, TupleType)]
        # Set once, while the tuple is made: it is frozen from then on.
        object.__setattr__(
            self, "size", len(self.elements) - len(inner) + sum(e.size for e in inner)
        )
        object.__setattr__(self, "depth", 1 + max((e.depth for e in inner), default=0))
        if self.size > MAX_VALUES:
            raise TooLarge(f"a tuple of {self.size:,} values: the simulator takes {MAX_VALUES:,}")
        if self.depth > MAX_NESTED:
            raise TooLarge(f"tuples nested more than {MAX_NESTED} deep, the simulator's limit")

    def __str__(self) -> str:
        if self.names == THREE_PARTS:
            return "three numbers, .x, .y and .z"
        return f"tuple({', '.join(map(str, self.elements))})"


THREE_PARTS = ("x", "y", "z")
"""The parts of `cuda.threadIdx` and its kin, held by one name."""


@dataclass(frozen=True)
class RangeType:
    """What `range` gives: integers of one dtype."""

    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"range({self.dtype})"


@dataclass(frozen=True)
class GridType:
    """What `cuda.cg.this_grid()` gives: the grid as a group that can meet."""

    def __str__(self) -> str:
        return "the grid group"


@dataclass(frozen=True)
class FunctionType:
    """A device function as a value: each one is a type of its own, as in Numba.

    Attributes:
        name: its name.
        place: the file and the line it is defined at.
        function: the Kernel.
    """

    name: str
    place: tuple[str, int]
    function: Any = field(repr=False)

    def __str__(self) -> str:
        return f"the function {self.name}"


@dataclass(frozen=True)
class WordType:
    """A function of the vocabulary as a value, such as `cuda.atomic.add`.

    Attributes:
        path: its dotted name.
    """

    path: str

    def __str__(self) -> str:
        return f"the function {self.path}"


@dataclass(frozen=True)
class DtypeType:
    """A dtype as a value: each one is a type of its own, as in Numba.

    Attributes:
        of: the dtype.
    """

    of: np.dtype[Any]

    def __str__(self) -> str:
        return f"the dtype {self.of}"


Held = FunctionType | WordType | DtypeType
"""Types whose value they say themselves."""
Type = np.dtype[Any] | ArrayType | TupleType | RangeType | GridType | Held | None


class NoSuchType(Exception):
    """Types that Numba cannot join or take; the text says which, the hint what to write instead."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


class NotSimulated(NoSuchType):
    """What Numba compiles and the simulator does not know; the text names it."""


class TooLarge(NoSuchType):
    """A type that Numba may know and that is too large for the simulator; the text says how."""


def is_scalar(type_: Type) -> bool:
    """True for a number or bool, as opposed to an array, a tuple or nothing."""
    return isinstance(type_, np.dtype)


def same(a: Type, b: Type) -> bool:
    """True for one type and the same.

    Not by == alone: a dtype takes whatever has an attribute `dtype` for that dtype, so an int32
    would equal an array of them; and it takes None for float64.

    >>> np.dtype("int32") == ArrayType(np.dtype("int32"), 1), same(INT32, ArrayType(INT32, 1))
    (True, False)
    """
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        alike = len(a.elements) == len(b.elements) and a.names == b.names
        return alike and all(map(same, a.elements, b.elements))
    return isinstance(a, np.dtype) == isinstance(b, np.dtype) and a == b


def unify(a: Type, b: Type) -> Type:
    """Returns the type of a variable that is assigned both.

    Raises:
        NoSuchType: no type holds both, such as an array and a number.

    >>> unify(np.dtype("int64"), np.dtype("float32"))
    dtype('float64')
    """
    if same(a, b):
        return a
    if isinstance(a, np.dtype) and isinstance(b, np.dtype):
        return np.promote_types(a, b)
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.elements) == len(b.elements):
        names = a.names if a.names == b.names else ()
        return TupleType(tuple(map(unify, a.elements, b.elements)), names)
    if isinstance(a, ArrayType) and isinstance(b, ArrayType) and a.like(b):
        what = f"one name for an array in {a.space} memory and one in {b.space} memory"
        raise NotSimulated(what, "give each of the two a name of its own")
    raise NoSuchType(f"{_name(a)} and {_name(b)}")


def _name(type_: Type) -> str:
    return "nothing" if type_ is None else str(type_)


def _integer(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Integer arithmetic: at least 64 bits; unsigned only when both are."""
    if a.kind == "u" and b.kind == "u":
        return UINT64
    return INT64


_SPECIAL: dict[frozenset[np.dtype[Any]], np.dtype[Any]] = {
    frozenset((UINT16, FLOAT32)): FLOAT64,
    frozenset((UINT16, FLOAT16)): FLOAT64,
    frozenset((np.dtype(np.uint8), FLOAT16)): FLOAT32,
    frozenset((UINT16, np.dtype(np.complex64))): np.dtype(np.complex128),
}


def _is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iub"


def arithmetic(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type of `a + b`, `a - b`, `a * b`, `a // b` and `a % b`.

    >>> arithmetic(np.dtype("float32"), np.dtype("int64"))
    dtype('float64')
    >>> arithmetic(np.dtype("float32"), np.dtype("int16"))
    dtype('float32')
    >>> arithmetic(np.dtype("int32"), np.dtype("int32"))
    dtype('int64')
    """
    if _is_integer(a) and _is_integer(b):
        return _integer(a, b)
    if BOOL in (a, b):
        return b if a == BOOL else a
    # Numba's table, which is not NumPy's for unsigned integers.
    pair = frozenset((a, b))
    return _SPECIAL[pair] if pair in _SPECIAL else np.promote_types(a, b)


_OF_BITS = {"BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>"}


def binary(operator: str, a: Type, b: Type) -> Type:
    """Returns the type of `a operator b`, operator being the name of its `ast` class.

    Raises:
        NoSuchType: the operator does not take these types.

    >>> binary("Pow", np.dtype("float32"), np.dtype("int64"))
    dtype('float32')
    """
    if isinstance(a, np.dtype) and isinstance(b, np.dtype):
        found = _OPERATORS.get(operator, arithmetic)(a, b)
        if found is not None:
            return found
        if operator in _OF_BITS and not (_is_integer(a) and _is_integer(b)):
            other = b if _is_integer(a) else a
            hint = "write x * x, or x ** 2, for a power" if operator == "BitXor" else ""
            raise NoSuchType(f"{_OF_BITS[operator]} takes whole numbers, not {other}", hint)
    elif operator == "Add" and isinstance(a, TupleType) and isinstance(b, TupleType):
        return TupleType(a.elements + b.elements)
    raise NoSuchType(f"{_name(a)} and {_name(b)}")


Scalar = np.dtype[Any]


def _quotient(a: Scalar, b: Scalar) -> Scalar:
    result = arithmetic(a, b)
    return FLOAT64 if _is_integer(result) else result


def _power(a: Scalar, b: Scalar) -> Scalar:
    if a == BOOL and b == INT32:
        return FLOAT32  # Numba's first match is its float32-to-an-int32 power
    wide = FLOAT32 if a == FLOAT16 else a
    if wide.kind == "f" and _is_integer(b):
        return wide
    return arithmetic(wide, FLOAT32 if b == FLOAT16 else b)


def _bits(a: Scalar, b: Scalar) -> Scalar | None:
    if not (_is_integer(a) and _is_integer(b)):
        return None
    return BOOL if a == b == BOOL else _integer(a, b)


def _shifted(a: Scalar, b: Scalar) -> Scalar | None:
    if not (_is_integer(a) and _is_integer(b)):
        return None
    return UINT64 if a.kind == "u" else INT64


def _whole(a: Scalar, b: Scalar) -> Scalar | None:
    """Of a // b and a % b."""
    if "c" in (a.kind, b.kind):
        return None
    result = arithmetic(a, b)
    return FLOAT32 if result == FLOAT16 else result


_OPERATORS: dict[str, Callable[[Scalar, Scalar], Scalar | None]] = {
    "Div": _quotient,
    "Pow": _power,
    **dict.fromkeys(("BitAnd", "BitOr", "BitXor"), _bits),
    **dict.fromkeys(("LShift", "RShift"), _shifted),
    **dict.fromkeys(("FloorDiv", "Mod"), _whole),
}
"""Operator -> the type of its result, None where there is none; for others `arithmetic` says it."""


_UNARY = {"Not": "not", "UAdd": "+", "USub": "-", "Invert": "~"}


def unary(operator: str, a: Type) -> Type:
    """Returns the type of `-a`, `+a`, `~a` or `not a`.

    Raises:
        NoSuchType: the operator does not take this type.
    """
    if operator == "Not" and isinstance(a, np.dtype):
        return BOOL
    if not isinstance(a, np.dtype) or (operator == "Invert" and not _is_integer(a)):
        wanted = "whole number" if operator == "Invert" else "number"
        raise NoSuchType(f"{_UNARY[operator]} takes a {wanted}, not {_name(a)}")
    if operator == "Invert" and a == BOOL:
        return BOOL
    if operator == "UAdd" and a == FLOAT16:
        return FLOAT32  # Numba has no plus of its own for it
    if _is_integer(a):
        return UINT64 if a.kind == "u" else INT64
    return a


def real(a: Type) -> np.dtype[Any]:
    """Returns the type of a `math` function of `a`: float32 stays, integers give float64."""
    if not isinstance(a, np.dtype) or a.kind not in "iubf":
        raise NoSuchType(_name(a))
    return FLOAT64 if _is_integer(a) else a


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


def check_comparison(op: ast.cmpop, left: Type, right: Type) -> None:
    """Raises NoSuchType where Numba compares no such two values."""
    asks_equality = isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
    if asks_equality and (left is None or right is None):
        return
    if isinstance(op, ast.In | ast.NotIn):
        if isinstance(right, ArrayType | RangeType) and is_scalar(left):
            what = "a whole array" if isinstance(right, ArrayType) else "a range"
            raise NotSimulated(f"in for {what}", "write the loop, or compare with its bounds")
        elements = right.elements if isinstance(right, TupleType) else ()
        if not elements or not is_scalar(left) or len(set(elements)) > 1:
            raise NoSuchType("in takes a tuple of numbers of one type")
        return
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        for one, other in zip(left.elements, right.elements, strict=False):
            check_comparison(op, one, other)
        return
    if not (isinstance(left, np.dtype) and isinstance(right, np.dtype)):
        raise NoSuchType("only numbers can be compared")
    if not asks_equality and "c" in (left.kind, right.kind):
        raise NoSuchType("complex numbers have no order")


def converted(name: str, dtype: np.dtype[Any], arguments: Sequence[Type]) -> np.dtype[Any]:
    """The type of float32(x), which is float32.

    Raises:
        NoSuchType: it gets more or less than one number, or a complex one.
    """
    if len(arguments) != 1 or not isinstance(arguments[0], np.dtype):
        raise NoSuchType(f"{name} takes one number")
    if arguments[0].kind == "c" and dtype.kind != "c":
        raise NoSuchType(f"{name} takes no complex number: take .real or .imag")
    return dtype


def component(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the real part of a number."""
    return np.dtype(f"float{4 * dtype.itemsize}") if dtype.kind == "c" else dtype


def field_type(owner: ArrayType, name: str) -> Type:
    """The type of a field of one structure, or of an array of them."""
    whole = fields_of(owner)[name]
    ndim = owner.ndim + len(whole.shape)
    return ArrayType(whole.base, ndim, owner.space) if ndim or whole.base.fields else whole


def fields_of(owner: ArrayType) -> dict[str, np.dtype[Any]]:
    """The fields of structures and their dtypes; none for an array of numbers."""
    return {name: found[0] for name, found in (owner.dtype.fields or {}).items()}


def is_structure(type_: Type) -> TypeGuard[ArrayType]:
    """True for one structure, wherever it lies: an array of them without dimensions."""
    return isinstance(type_, ArrayType) and type_.ndim == 0 and bool(type_.dtype.fields)


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


MAX_SHOWN = 100


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
            UserError: nothing converts one to the other.
        """
        if self.result is ANYTHING:
            return found
        if conversion(found, self.result) is None:
            raise UserError(f"returns {show(found)}, and its signature {show(self.result)}")
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
        UserError: a string that is not a signature.

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
        raise UserError(
            f'"{text[:MAX_SHOWN]}" is not a signature', 'write it like "void(float32[:], int32)"'
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
