"""The constants a file may define beside its kernels, evaluated here and never run by Python."""

from __future__ import annotations

import ast
import cmath
import math
import operator
from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

LARGEST = 2**64
MAX_NESTED = 32
MAX_FIELDS = 128
MAX_CELLS = 65_536  # constant memory holds 64 KiB
MAX_DTYPE_LETTERS = 32
MAX_COST = 4 * MAX_CELLS
MAX_COST_OF_A_FILE = 4 * MAX_COST


@dataclass(frozen=True)
class Symbol:
    """A name of the GPU's vocabulary, such as `cuda.threadIdx` or `math.sqrt`.

    >>> Symbol("cuda").member("grid")
    Symbol(path='cuda.grid')
    """

    path: str

    def member(self, name: str) -> Symbol:
        """Returns the symbol one dot further."""
        if self.path == "numba" and name == "cuda":
            return Symbol("cuda")
        if self.path == "numba" and name == "types":
            return self
        if self.path == "cuda" and (name == "types" or f"numba.{name}" in _DTYPES):
            return Symbol("numba") if name == "types" else Symbol(f"numba.{name}")
        return Symbol(f"{self.path}.{name}")


@dataclass(frozen=True)
class NamedTuple:
    """A class made by `collections.namedtuple`: its name and its fields."""

    name: str
    fields: tuple[str, ...]


class FileList(tuple[Any, ...]):
    """A list beside the kernels: an array is made of it, and no kernel takes it as it is."""


class Names(Protocol):
    """The names that a constant expression may use, and what they stand for."""

    def __contains__(self, name: object) -> bool:
        """True for a name that stands for something."""

    def __getitem__(self, name: str) -> Any:
        """Returns what a name stands for."""


class NotConstant(Exception):
    """An expression that is not a constant; the text says which part."""


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_BOUNDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_MATH = {f"math.{n}": getattr(math, n) for n in ("pi", "e", "tau", "inf", "nan")}
_MATH |= {f"cmath.{n}": getattr(cmath, n) for n in ("pi", "e", "tau", "inf", "nan", "infj", "nanj")}
_MATH |= {
    "numpy.pi": math.pi,
    "numpy.e": math.e,
    "numpy.inf": math.inf,
    "numpy.nan": math.nan,
}

_SCALARS = [
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
_NUMBERS = frozenset(name.removesuffix("_") for name in _SCALARS)
_DTYPES: dict[str, np.dtype[Any]] = {}
for _name in _SCALARS:
    _DTYPES[f"numpy.{_name}"] = _DTYPES[f"numba.{_name}"] = np.dtype(getattr(np, _name))
for _alias, _name in {
    "numba.b1": "bool_", "numba.boolean": "bool_", "numba.bool": "bool_", "numpy.bool": "bool_",
    "numba.i1": "int8", "numba.i2": "int16", "numba.i4": "int32", "numba.i8": "int64",
    "numba.u1": "uint8", "numba.u2": "uint16", "numba.u4": "uint32", "numba.u8": "uint64",
    "numba.f2": "float16", "numba.f4": "float32", "numba.f8": "float64",
    "numba.c8": "complex64", "numba.c16": "complex128", "numba.intp": "int64",
    "numpy.intp": "int64", "numba.uintp": "uint64", "numba.int_": "int64",
    "numba.float_": "float32", "numba.double": "float64", "numba.short": "int16",
    "numba.ushort": "uint16", "numba.char": "int8", "numba.uchar": "uint8",
    "numba.longlong": "int64", "numba.ulonglong": "uint64",
    "numpy.single": "float32", "numpy.double": "float64", "numpy.half": "float16",
}.items():  # fmt: skip
    _DTYPES[_alias] = np.dtype(getattr(np, _name))


def as_dtype(value: Any) -> np.dtype[Any] | None:
    """Returns the dtype a symbol names, or None when it names something else.

    >>> as_dtype(Symbol("numba.float32"))
    dtype('float32')
    """
    if isinstance(value, np.dtype):
        return value
    return _DTYPES.get(value.path) if isinstance(value, Symbol) else None


def dtype_of_text(text: str) -> np.dtype[Any] | None:
    """Returns the dtype that a string names, one that a kernel can use; None for any other.

    >>> dtype_of_text("f4"), dtype_of_text("datetime64")
    (dtype('float32'), None)
    """
    try:
        found = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        return None
    return found if found.name in _NUMBERS and found.isnative else None


def resolve(symbol: Symbol) -> Any:
    """Returns the number behind a symbol such as `math.pi`, else the symbol itself."""
    return _MATH.get(symbol.path, symbol)


def constant(node: ast.expr, names: Names) -> Any:
    """Returns the value of a constant expression: a number, a bool, a tuple, a Symbol or an array.

    Args:
        node: the expression.
        names: constants and symbols defined above it.

    Raises:
        NotConstant: it calls, names or uses anything else.
    """
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool | int | float | complex) or node.value is None:
            return _bounded(node.value)
        raise NotConstant(f"a {type(node.value).__name__}")
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise NotConstant(f"the name {node.id} is not defined above it")
        return names[node.id]
    if isinstance(node, ast.Attribute):
        owner = constant(node.value, names)
        if not isinstance(owner, Symbol):
            raise NotConstant(f"the attribute .{node.attr}")
        return resolve(owner.member(node.attr))
    if isinstance(node, ast.Tuple | ast.List):
        made = tuple if isinstance(node, ast.Tuple) else FileList
        return made(_elements(node.elts, names))
    if isinstance(node, ast.UnaryOp):
        return _number(_UNARY[type(node.op)], constant(node.operand, names))
    if isinstance(node, ast.BinOp):
        left, right = constant(node.left, names), constant(node.right, names)
        return _binary(node.op, left, right)
    if isinstance(node, ast.IfExp):
        return constant(node.body if _truth(node.test, names) else node.orelse, names)
    if isinstance(node, ast.BoolOp):
        return _either(node, names)
    if isinstance(node, ast.Compare):
        return _compared(node, names)
    if isinstance(node, ast.Subscript):
        return _part(node, names)
    if isinstance(node, ast.Call):
        return _call(node, names)
    raise NotConstant(f"{type(node).__name__} is not a constant expression")


def _elements(nodes: list[ast.expr], names: Names) -> list[Any]:
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            whole = constant(node.value, names)
            if not isinstance(whole, tuple):
                raise NotConstant("a star before something that is not a tuple")
            found += whole
        else:
            found.append(constant(node, names))
        if len(found) > MAX_CELLS:
            raise NotConstant("a tuple of too many values")
    return found


def _truth(node: ast.expr, names: Names) -> bool:
    value = constant(node, names)
    if not isinstance(value, bool | int | float | complex | np.generic | tuple | None):
        raise NotConstant("a condition that is no number")
    return bool(value)


def _either(node: ast.BoolOp, names: Names) -> Any:
    """a and b, a or b"""
    value: Any = None
    for part in node.values:
        value = constant(part, names)
        if _truth(part, names) is isinstance(node.op, ast.Or):
            break
    return value


_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _compared(node: ast.Compare, names: Names) -> bool:
    """a < b <= c"""
    values = [constant(part, names) for part in (node.left, *node.comparators)]
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        if type(op) not in _COMPARE:
            raise NotConstant(f"the operator {type(op).__name__}")
        if not _number(_COMPARE[type(op)], left, right):
            return False
    return True


def _part(node: ast.Subscript, names: Names) -> Any:
    """TILES[0], TILES[1:]"""
    whole = constant(node.value, names)
    if isinstance(node.slice, ast.Slice):
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        index: Any = slice(*(None if b is None else constant(b, names) for b in bounds))
    else:
        index = constant(node.slice, names)
    try:
        return whole[index] if isinstance(whole, tuple) else np.ndarray.__getitem__(whole, index)
    except (TypeError, IndexError, ValueError) as error:
        raise NotConstant(str(error)) from None


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LARGEST:
        raise NotConstant("an integer beyond 64 bits")
    return value


def _number(operation: Callable[..., Any], *operands: Any) -> Any:
    if not all(isinstance(v, bool | int | float | complex | np.generic) for v in operands):
        raise NotConstant("arithmetic on something that is not a number")
    try:
        with np.errstate(all="ignore"):
            return _bounded(operation(*operands))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NotConstant(str(error)) from None


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Pow | ast.LShift | ast.RShift):
        # Bounded by hand: 9 ** 9 ** 9 would otherwise run for ever.
        numeric = isinstance(right, bool | int | float | np.integer | np.floating)
        if not numeric or not -1024 <= right <= 1024:
            raise NotConstant("a power or shift beyond 64 bits")
        return _number(_BOUNDED[type(op)], left, right)
    if type(op) not in _BINARY:
        raise NotConstant(f"the operator {type(op).__name__}")
    return _number(_BINARY[type(op)], left, right)


def _string(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotConstant("a name that is no string")


def _fields(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(map(_string, node.elts))
    return tuple(_string(node).replace(",", " ").split())


def _structure(node: ast.Call, names: Names) -> np.dtype[Any]:
    """numpy.dtype([("x", np.float32), ("kind", np.int32)], align=True)"""
    aligned = any(k.arg == "align" and constant(k.value, names) for k in node.keywords)
    return _of_fields(node.args[0], names, aligned=aligned)


def _of_fields(node: ast.expr, names: Names, *, aligned: bool) -> np.dtype[Any]:
    """[("x", np.float32), ("kind", np.int32)]"""
    assert isinstance(node, ast.List)
    if len(node.elts) > MAX_FIELDS:
        raise NotConstant(f"{len(node.elts):,} fields: the simulator takes {MAX_FIELDS}")
    fields = []
    for each in node.elts:
        if not isinstance(each, ast.Tuple) or len(each.elts) != 2:
            raise NotConstant("a field that is no pair of a name and a dtype")
        name, type_ = each.elts
        if isinstance(type_, ast.Constant) and isinstance(type_.value, str):
            dtype: Any = type_.value[:MAX_DTYPE_LETTERS]
        else:
            dtype = as_dtype(constant(type_, names))
        if dtype is None:
            raise NotConstant("a field whose dtype is none")
        fields.append((_string(name), dtype))
    try:
        found = np.dtype(fields, align=aligned)
    except (TypeError, ValueError) as error:
        raise NotConstant(str(error)) from None
    if found.itemsize > MAX_CELLS:
        raise NotConstant(f"a structure of {found.itemsize:,} bytes")
    return found


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (abs, bool, divmod, float, int, len, max, min, round, sum, tuple)},
    **{
        f"math.{name}": getattr(math, name)
        for name in (
            "sqrt exp exp2 log log2 log10 sin cos tan asin acos atan atan2 sinh cosh tanh hypot "
            "floor ceil trunc fabs copysign fmod gcd lcm radians degrees isqrt"
        ).split()
        if hasattr(math, name)
    },
}
"""What a constant may call: functions of numbers and tuples that make nothing large."""


def _worked_out(name: str, node: ast.Call, names: Names) -> Any:
    """max(A, B), math.sqrt(2.0)"""
    if node.keywords:
        raise NotConstant(f"{name} with keywords")
    given = _elements(node.args, names)
    numbers = [v for one in given for v in (one if isinstance(one, tuple) else (one,))]
    if not all(isinstance(v, bool | int | float | np.generic) for v in numbers):
        raise NotConstant(f"{name} of something that is no number")
    try:
        with np.errstate(all="ignore"):
            found = _FUNCTIONS[name](*given)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NotConstant(str(error)) from None
    return found if isinstance(found, tuple) else _bounded(found)


def _call(node: ast.Call, names: Names) -> Any:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _FUNCTIONS and name not in names:
        return _worked_out(name, node, names)
    function = constant(node.func, names)
    if isinstance(function, NamedTuple):
        return _filled(function, node, names)
    path = function.path if isinstance(function, Symbol) else ""
    if path in _FUNCTIONS:
        return _worked_out(path, node, names)
    return _CALLS.get(path, _converted)(function, node, names)


def _converted(function: Any, node: ast.Call, names: Names) -> Any:
    """float32(3)"""
    arguments = [constant(a, names) for a in node.args]
    keywords = [constant(k.value, names) for k in node.keywords if k.arg]
    dtype = as_dtype(function)
    if dtype is None or len(arguments) != 1 or keywords:
        raise NotConstant("a call, and no call is made while the file is read")
    return _number(dtype.type, arguments[0])


def _dtype(function: Any, node: ast.Call, names: Names) -> Any:
    """np.dtype([("x", np.float32)]), np.dtype("f4"), np.dtype(np.float32)"""
    if node.args and isinstance(node.args[0], ast.List):
        return _structure(node, names)
    if len(node.args) == 1 and _is_text(node.args[0]):
        return _named(node.args[0])
    if len(node.args) == 1 and not any(k.arg for k in node.keywords):
        found = as_dtype(constant(node.args[0], names))
        if found is not None:
            return found
    return _converted(function, node, names)


def _from_dtype(function: Any, node: ast.Call, names: Names) -> Any:
    """numba.from_dtype(POINT)"""
    if len(node.args) == 1:
        return constant(node.args[0], names)
    return _converted(function, node, names)


def _namedtuple(function: Any, node: ast.Call, names: Names) -> Any:
    """collections.namedtuple("Point", "x y")"""
    if len(node.args) == 2 and not node.keywords:
        return NamedTuple(_string(node.args[0]), _fields(node.args[1]))
    return _converted(function, node, names)


def _array(function: Any, node: ast.Call, names: Names) -> np.ndarray:
    """np.array([1, 2, 3], np.float32)"""
    given = {k.arg: k.value for k in node.keywords if k.arg}
    own = given.pop("dtype", None)
    arguments = [constant(a, names) for a in node.args]
    for value in given.values():
        constant(value, names)  # it may be none
    element = arguments[1] if len(arguments) > 1 else None
    wanted = as_dtype(element if own is None else _element_type(own, names))
    if not arguments or cells(arguments[0], 2 * MAX_CELLS) > 2 * MAX_CELLS:
        raise NotConstant("an array that is too large, or of nothing")
    try:
        array = np.array(_as_lists(arguments[0]), dtype=wanted)
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise NotConstant(str(error)) from None
    numeric = array.dtype.kind in "biufc" or array.dtype.fields
    if array.size > MAX_CELLS or array.nbytes > 8 * MAX_CELLS or not numeric:
        raise NotConstant("an array that is too large, or not of numbers")
    return array


_CALLS: dict[str, Callable[[Any, ast.Call, Names], Any]] = {
    "numpy.dtype": _dtype,
    "numba.from_dtype": _from_dtype,
    "numba.numpy_support.from_dtype": _from_dtype,
    "collections.namedtuple": _namedtuple,
    "numpy.array": _array,
    "numpy.asarray": _array,
}
"""Calls that make something which a constant may be, beside numbers."""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _named(node: ast.expr) -> np.dtype[Any]:
    found = dtype_of_text(_string(node))
    if found is None:
        raise NotConstant(f"{_string(node)!r} names no dtype of numbers")
    return found


def _element_type(node: ast.expr, names: Names) -> Any:
    """dtype=np.int32, dtype="i4", or dtype=[("x", np.float32)] of numpy.array."""
    if _is_text(node):
        return _named(node)
    if isinstance(node, ast.List):
        return _of_fields(node, names, aligned=False)
    return constant(node, names)


def _as_lists(value: Any) -> Any:
    """Lists as NumPy tells them from tuples: a tuple is one structure, a list a row of cells."""
    if isinstance(value, FileList):
        return [_as_lists(part) for part in value]
    return tuple(map(_as_lists, value)) if type(value) is tuple else value


def _filled(made: NamedTuple, node: ast.Call, names: Names) -> Any:
    """Point(1, y=2.5), a named tuple beside the kernels."""
    arguments = [constant(a, names) for a in node.args]
    keywords = {k.arg: constant(k.value, names) for k in node.keywords if k.arg}
    try:
        return namedtuple(made.name, made.fields)(*arguments, **keywords)  # type: ignore[misc]
    except (TypeError, ValueError) as error:
        raise NotConstant(str(error)) from None


class Costs:
    """What the constants of a file may cost, known before any of them is evaluated.

    A constant costs its own text and what the constants it names have cost, so it can't hold more
    parts than it costs: a few lines of `X = (X, X)` say 10 ** 12 numbers.
    """

    def __init__(self) -> None:
        self.left = MAX_COST_OF_A_FILE
        self.known: dict[str, tuple[int, int]] = {}  # name -> its cost, and how deeply it nests

    def charge(self, name: str, value: ast.expr) -> None:
        """Counts the constant that a name is given.

        Raises:
            NotConstant: it is too large, too deep, or the file has too many.
        """
        nodes = list(ast.walk(value))
        named = [self.known[n.id] for n in nodes if isinstance(n, ast.Name) and n.id in self.known]
        cost = len(nodes) + sum(cost for cost, _ in named)
        nested = sum(isinstance(n, ast.Tuple | ast.List) for n in nodes)
        depth = min(nested, MAX_NESTED) + max((depth for _, depth in named), default=0)
        self.known.pop(name, None)
        self.left -= min(cost, MAX_COST)
        if cost > MAX_COST or self.left < 0:
            raise NotConstant("it is too large, or the constants of the file are together")
        if depth > 2 * MAX_NESTED:
            raise NotConstant("it is nested too deeply")
        self.known[name] = cost, depth

    def share(self, name: str, among: Iterable[str]) -> None:
        """Lets names that get parts of a constant cost as much as the whole."""
        known = self.known.pop(name, None)
        for one in among:
            self.known.pop(one, None)
            if known is not None:
                self.known[one] = known


def cells(value: Any, most: int) -> int:
    """Returns how many parts nested tuples have, or some number above `most` where it is more.

    >>> cells(((1, 2), 3), 100)
    5
    """
    found, waiting = 0, [value]
    while waiting and found <= most:
        found += 1
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += part[: most + 1]
    return found
