"""Where a thread stands: `threadIdx` and its kin, `grid` and `gridsize`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import INT32, INT64, NoSuchType, TupleType, Type
from simt.machine.lanes import Lanes
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.functions import Function


def _value(type_: Type, pick: Callable[[Lanes], Value]) -> Function:
    """A value that every thread can read."""

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return pick(machine.lanes)

    return Function(lambda arguments, nodes: type_, run)


def _axes(name: str, pick: Callable[[Lanes, int], Value]) -> dict[str, Function]:
    def bind(axis: int) -> Function:
        return _value(INT32, lambda lanes: pick(lanes, axis))

    return {f"cuda.{name}.{letter}": bind(axis) for axis, letter in enumerate("xyz")}


VALUES: dict[str, Function] = {
    **_axes("threadIdx", lambda lanes, axis: lanes.thread_index(axis)),
    **_axes("blockIdx", lambda lanes, axis: lanes.block_index(axis)),
    **_axes("blockDim", lambda lanes, axis: np.int32(lanes.block[axis])),
    **_axes("gridDim", lambda lanes, axis: np.int32(lanes.grid[axis])),
    "cuda.laneid": _value(INT32, lambda lanes: lanes.lane_number()),
    "cuda.warpsize": _value(INT32, lambda lanes: np.int32(32)),
}


def _dimensions(nodes: Sequence[ast.expr]) -> int:
    value = nodes[0].value if len(nodes) == 1 and isinstance(nodes[0], ast.Constant) else None
    if type(value) is int and 1 <= value <= 3:
        return value
    raise NoSuchType(
        "takes 1, 2 or 3, written as a number",
        "give it the dimensions of the grid, between its brackets: 1 for a place along x",
    )


def _per_dimension(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    count = _dimensions(nodes)
    return INT64 if count == 1 else TupleType((INT64,) * count)


def _grid(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    found = tuple(machine.lanes.global_index(axis) for axis in range(_count(result)))
    return found if isinstance(result, TupleType) else found[0]


def _gridsize(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    found = tuple(
        np.int64(machine.lanes.grid[k] * machine.lanes.block[k]) for k in range(_count(result))
    )
    return found if isinstance(result, TupleType) else found[0]


def _count(result: Type) -> int:
    return len(result.elements) if isinstance(result, TupleType) else 1


FUNCTIONS: dict[str, Function] = {
    "cuda.grid": Function(_per_dimension, _grid),
    "cuda.gridsize": Function(_per_dimension, _gridsize),
}
