"""Atomic updates: read, combine and write one cell as a single step; lanes take their turn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import INT64, ArrayType, NoSuchType, TupleType, Type, is_scalar
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.functions import Function, cast

Combine = Callable[..., Any]
"""(old, operands ...) -> new, element by element."""


def _increment(old: Any, limit: Any) -> Any:
    return np.where(old >= limit, 0, old + 1)


def _decrement(old: Any, limit: Any) -> Any:
    return np.where((old == 0) | (old > limit), limit, old - 1)


def _maximum(old: Any, new: Any) -> Any:
    # Like Python's max, a NaN in memory stays and a NaN operand never gets in.
    return np.where(new > old, new, old)


def _minimum(old: Any, new: Any) -> Any:
    return np.where(new < old, new, old)


def _compare_and_swap(old: Any, expected: Any, new: Any) -> Any:
    return np.where(old == expected, new, old)


_COMBINE: dict[str, Combine] = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": _increment,
    "dec": _decrement,
    "exch": lambda old, new: new,
    "max": _maximum,
    "min": _minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "cas": _compare_and_swap,
}
_BITS = ("and_", "or_", "xor")
ALWAYS_RETURN = ("exch", "cas")
"""Those that always bring the old value back: PTX has no `red` of them."""
_UNSIGNED = ("inc", "dec")
# Those whose result does not depend on who comes first, and that NumPy can do cell by cell.
_AT = {"add": np.add, "sub": np.subtract, **{n: _COMBINE[n] for n in _BITS}}


def _type(name: str) -> Callable[[Sequence[Type], Sequence[ast.expr]], Type]:
    operands = 2 if name == "cas" else 1

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        if len(arguments) != 2 + operands:
            raise NoSuchType(f"takes an array, an index and {operands} value(s)")
        array, index, *values = arguments
        if not isinstance(array, ArrayType):
            raise NoSuchType(f"updates a cell of an array, not of {array}")
        if array.space == "const":
            raise NoSuchType("constant memory cannot be changed")
        indices = index.elements if isinstance(index, TupleType) else (index,)
        # In a tuple Numba takes a float as well, and drops its fraction.
        kinds = "iub" if len(indices) == 1 else "iubf"
        if len(indices) != array.ndim or not all(
            isinstance(i, np.dtype) and i.kind in kinds for i in indices
        ):
            raise NoSuchType(f"takes {array.ndim} whole numbers as the index of this array")
        if not all(map(is_scalar, values)):
            raise NoSuchType("combines numbers")
        if array.dtype.itemsize < 4 or array.dtype.kind not in "iuf":
            raise NoSuchType(f"updates 4 or 8 bytes, and this array is of {array.dtype}")
        if array.ndim == 1 and isinstance(index, TupleType):
            raise NoSuchType("takes a number as the index of one dimension", "write i, not (i,)")
        if name in ALWAYS_RETURN and array.dtype.kind not in "iu":
            raise NoSuchType(
                f"exchanges whole numbers, and this array is of {array.dtype}",
                f"exchange its bits: view the array as int{8 * array.dtype.itemsize}",
            )
        if name in _BITS and array.dtype.kind not in "iu":
            raise NoSuchType(f"combines bits, and this array is of {array.dtype}")
        if name in _UNSIGNED and array.dtype.kind != "u":
            raise NoSuchType(
                f"counts in uint32 or uint64, and this array is of {array.dtype}",
                "write cuda.atomic.add(array, index, 1) to count up"
                if name == "inc"
                else "write cuda.atomic.add(array, index, -1) to count down",
            )
        return array.dtype

    return type_


def _run(name: str) -> Callable[[Machine, Call, Sequence[Value], Type], Value]:
    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        array, index, *operands = arguments
        indices = index if isinstance(index, tuple) else (index,)
        indices = tuple(cast(i, INT64) for i in indices)
        return machine.update(call, array, indices, name, [cast(o, array.dtype) for o in operands])

    return run


def apply(
    name: str, flat: np.ndarray, cells: np.ndarray, operands: Sequence[Any], *, returns: bool
) -> np.ndarray | None:
    """Updates cells one lane after the other; returns the old values where somebody asks for them.

    Args:
        name: "add", "max", "cas" ...
        flat: the memory, one dimension.
        cells: int64 (n,), the cell of each lane, in the order in which lanes take their turn.
        operands: one or two arrays (n,) or scalars.
        returns: whether the old values are wanted.

    >>> memory = np.zeros(2, np.int64)
    >>> apply("add", memory, np.array([1, 1, 0]), [np.int64(5)], returns=True), memory
    (array([0, 5, 0]), array([ 5, 10]))
    """
    if not returns and name in _AT:
        _AT[name].at(flat, cells, operands[0])  # type: ignore[attr-defined]
        return None
    combine = _COMBINE[name]
    if cells.size == 1:
        found = flat.take(cells)
        flat[cells] = combine(found, *operands)
        return found
    operands = [np.broadcast_to(o, cells.shape) for o in operands]
    order = np.argsort(cells, kind="stable")
    grouped = cells[order]
    starts = np.concatenate(([True], np.diff(grouped) != 0))
    old = np.empty(cells.size, flat.dtype)
    if name == "add" and flat.dtype.kind in "iu":
        old[order] = _running_sum(flat, grouped, operands[0][order], starts)
        np.add.at(flat, cells, operands[0])
        return old
    # The n-th turn of every cell, all cells at once.
    position = np.arange(cells.size)
    turn = position - np.maximum.accumulate(np.where(starts, position, 0))
    by_turn = order[np.argsort(turn, kind="stable")]
    for lanes in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]):
        where = cells[lanes]
        old[lanes] = flat[where]
        flat[where] = combine(old[lanes], *(o[lanes] for o in operands))
    return old


def _running_sum(
    flat: np.ndarray, cells: np.ndarray, values: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """What each lane finds in its cell when those before it have added theirs."""
    before = np.cumsum(values) - values
    first = np.maximum.accumulate(np.where(starts, np.arange(cells.size), 0))
    return np.asarray(flat[cells] + (before - before[first]))


def _swap_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    if len(arguments) != 3 or not isinstance(arguments[0], ArrayType) or arguments[0].ndim != 1:
        raise NoSuchType("takes a one-dimensional array and two numbers")
    return _type("cas")([arguments[0], INT64, *arguments[1:]], nodes)


def _swap(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    """Compares and swaps the first cell: an older name for `cas` at index 0."""
    array, *operands = arguments
    return _run("cas")(machine, call, [array, np.int64(0), *operands], result)


FUNCTIONS: dict[str, Function] = {
    "cuda.atomic.compare_and_swap": Function(_swap_type, _swap),
    **{f"cuda.atomic.{name}": Function(_type(name), _run(name)) for name in _COMBINE},
}
