"""What a kernel asks of a whole array: sums over its cells, and other ways of seeing its memory.

Numba has loops of its own for `a.sum()` and its kin, thread by thread. Lowering writes them out;
here stand their types. Which of NumPy's methods compile into a kernel was asked of numba-cuda 0.30.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.refusals import ours
from simt.kernel.types import BOOL, FLOAT64, INT64, UINT64, ArrayType, NoSuchType, TupleType, Type
from simt.machine.machine import Machine
from simt.machine.memory import Array, row_major, seen_as
from simt.machine.values import Value
from simt.text import count
from simt.vocabulary.attributes import made_by_lowering, whole
from simt.vocabulary.functions import Function


@dataclass(frozen=True)
class Fold:
    """A loop over the cells of an array that ends in one number.

    Attributes:
        kept: dtype of the cells -> the type in which the loop keeps what it has so far.
        first: what it starts with.
        operator: what it does with each cell, a class of `ast`; "" where it looks for one cell.
        until: of a search, the truth of the cell that ends it.
        mean: what is kept is divided by the number of cells at the end.
    """

    kept: Callable[[np.dtype[Any]], np.dtype[Any]]
    first: int
    operator: str = ""
    until: bool = False
    mean: bool = False

    def type(self, owner: Type) -> np.dtype[Any]:
        """Returns the type of the result.

        Raises:
            NoSuchType: of an array of structures.
        """
        if not isinstance(owner, ArrayType) or owner.dtype.fields:
            raise NoSuchType(f"takes an array of numbers, not {owner}")
        kept = self.kept(owner.dtype)
        if self.mean:
            return np.dtype(np.complex128) if kept.kind == "c" else FLOAT64
        return kept


def _summed(cell: np.dtype[Any]) -> np.dtype[Any]:
    if cell.kind in "ib":
        return INT64
    return UINT64 if cell.kind == "u" else cell


def _averaged(cell: np.dtype[Any]) -> np.dtype[Any]:
    return FLOAT64 if cell.kind in "iub" else cell


def _truth(cell: np.dtype[Any]) -> np.dtype[Any]:
    return BOOL


FOLDS = {
    "sum": Fold(_summed, 0, "Add"),
    "prod": Fold(_summed, 1, "Mult"),
    "mean": Fold(_averaged, 0, "Add", mean=True),
    "any": Fold(_truth, 0, until=True),
    "all": Fold(_truth, 1, until=False),
}
"""Methods of arrays, and functions of NumPy."""


def _of_whole(name: str) -> Function:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        if len(arguments) != 1:
            raise NoSuchType("takes one array")
        return FOLDS[name].type(arguments[0])

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        raise AssertionError("lowering writes the loop out")

    return Function(type_, run)


FUNCTIONS = {f"numpy.{name}": _of_whole(name) for name in FOLDS}


# Other ways of seeing the same memory


def reshaped_type(owner: ArrayType, arguments: Sequence[Type]) -> ArrayType:
    """Returns the type of a.reshape(2, 3) or a.reshape((2, 3)).

    Raises:
        NoSuchType: for sides that are no whole numbers.
    """
    given = arguments
    if len(given) == 1 and isinstance(given[0], TupleType):
        given = given[0].elements
    if not given or not all(isinstance(n, np.dtype) and n.kind in "iu" for n in given):
        raise NoSuchType("reshape takes whole numbers, or one tuple of them")
    return replace(owner, ndim=len(given))


def _reshaped(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    array, *sides = arguments
    if len(sides) == 1 and isinstance(sides[0], tuple):
        sides = list(sides[0])
    lanes = machine.mask.lanes
    shape = [_one_for_all(machine, call, side, lanes) for side in sides]
    size = int(_one_for_all(machine, call, array.size, lanes))
    if shape.count(-1) == 1:
        rest = -int(np.prod(shape))
        shape[shape.index(-1)] = size // rest if rest else 0
    if min(shape) < 0 or int(np.prod(shape)) != size:
        fact = f"{array.name} has {count(size, 'cell')}, and {tuple(shape)} asks for another number"
        raise machine.kernel.refuse(call.line, fact, "give sides whose product is its size")
    if tuple(array.strides) != row_major(array.shape) and size > 1:
        fact = f"{array.name} does not lie in one piece: Numba reshapes contiguous arrays alone"
        raise machine.kernel.refuse(call.line, fact, "reshape it on the host")
    sides_now = tuple(map(np.int64, shape))
    return _seen_as(array, shape=sides_now, strides=row_major(tuple(shape)))


def _one_for_all(machine: Machine, call: Call, value: Value, lanes: np.ndarray) -> int:
    """A number that all lanes here agree on.

    Raises:
        KernelRefused: they do not.
    """
    if isinstance(value, np.ndarray):
        value = value[lanes]
        if (value != value[0]).any():
            fact = "reshape gives other sides in some threads, which the simulator does not know"
            raise machine.kernel.refuse(call.line, fact, "give all threads the same sides")
        value = value[0]
    return int(value)


def _transposed(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    (array,) = arguments
    return _seen_as(array, shape=array.shape[::-1], strides=array.strides[::-1])


def _seen_as(array: Array, **changes: Any) -> Array:
    """The same memory in another shape; a field of structures keeps the sides of its cells."""
    ndim = len(array.shape)
    fields = {
        name: _seen_as(
            part,
            shape=(*changes["shape"], *part.shape[ndim:]),
            strides=(
                *(_scaled(part, array, stride) for stride in changes["strides"]),
                *part.strides[ndim:],
            ),
        )
        for name, part in array.fields.items()
    }
    return replace(array, **changes, contiguous=False, root=array.root or array, fields=fields)


def _scaled(part: Array, array: Array, stride: Any) -> Any:
    """A stride of the structures in elements of one of their fields."""
    return stride * array.dtype.itemsize // part.dtype.itemsize


def viewed_type(owner: ArrayType, dtype: np.dtype[Any]) -> ArrayType:
    """Returns the type of a.view(dtype)."""
    return replace(owner, dtype=dtype)


def _viewed(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    """The same bytes as cells of another dtype; the axis without gaps grows or shrinks with them.

    Source: Numba, "numba/np/arrayobj.py" (_change_dtype).
    """
    (array,) = arguments
    assert isinstance(result, ArrayType)
    dtype, lanes = result.dtype, machine.mask.lanes
    old, new = array.dtype.itemsize, dtype.itemsize
    before = array.root or array
    declared = before.seen_of or before
    first = before.address - declared.address + array.origin * old
    shape, strides, shifts = list(array.shape), list(array.strides), [0]
    if old != new:
        axis = _axis_without_gaps(array, lanes)
        length = _different(shape[axis], lanes)[0] * old
        apart = [s * old for k, s in enumerate(strides) if k != axis]
        apart = [step for each in apart for step in _different(each, lanes)]
        fact, hint = "", f"view the whole of {declared.name}, and index that"
        if _different(strides[axis], lanes) != [1]:
            fact = f"the cells of {array.name} do not lie side by side"
        elif any(n * old % new for n in _different(shape[axis], lanes)):
            fact = f"{array.name} has {count(length, 'byte')} in a row"
        elif any(step % new for step in apart):
            fact = f"rows of {array.name} lie {count(min(apart), 'byte')} apart"
        if fact:
            fact = f"{fact}, which no cells of {new} bytes ({dtype}) can take the place of"
            raise machine.kernel.refuse(call.line, fact, hint)
        shape[axis] = whole(shape[axis] * old // new)
        strides = [1 if k == axis else step * old // new for k, step in enumerate(strides)]
        shifts = _different(first % new, lanes)
    if len(shifts) > 1 or declared.per_copy * declared.dtype.itemsize % new:
        fact = ours(f"views by {dtype} that begin within a cell of each other")
        raise machine.kernel.refuse(call.line, fact, f"begin at a multiple of {new} bytes")
    seen = seen_as(declared, dtype, shifts[0])
    return replace(
        seen,
        shape=tuple(shape),
        strides=tuple(strides),
        origin=(first - shifts[0]) // new,
        contiguous=False,
        nowhere=array.nowhere,
        root=seen,
    )


def _axis_without_gaps(array: Array, lanes: np.ndarray) -> int:
    """The axis along which cells change their size: the last one, or the first of Fortran order."""
    last = len(array.strides) - 1
    side_by_side = [_different(step, lanes) == [1] for step in array.strides]
    return 0 if side_by_side[0] and not side_by_side[last] else last


def _different(value: Value, lanes: np.ndarray) -> list[int]:
    """The numbers that some lanes have."""
    here = value[lanes] if isinstance(value, np.ndarray) else [value]
    return np.unique(here).tolist()  # type: ignore[no-any-return]


def _strides(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    (array,) = arguments
    size = array.dtype.itemsize
    return tuple(np.int64(1) * stride * size for stride in array.strides)


def _itemsize(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    return np.int64(arguments[0].dtype.itemsize)


def _nbytes(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    return np.int64(1) * arguments[0].size * arguments[0].dtype.itemsize


RESHAPE = Function(lambda arguments, nodes: None, _reshaped)
SEEN = "array.view"
"""What a kernel's code names where it sees memory as cells of another dtype."""
VIEW = Function(lambda arguments, nodes: None, _viewed)
ATTRIBUTES: dict[str, tuple[Callable[[ArrayType], Type], Function]] = {
    "T": (lambda owner: owner, made_by_lowering(_transposed)),
    "itemsize": (lambda owner: INT64, made_by_lowering(_itemsize)),
    "nbytes": (lambda owner: INT64, made_by_lowering(_nbytes)),
    "strides": (lambda owner: TupleType((INT64,) * owner.ndim), made_by_lowering(_strides)),
}
"""An attribute of an array -> its type, and what reads it."""
