"""What a `for` asks of what it goes over, and what a failed `assert` says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import Type
from simt.machine.machine import Machine
from simt.machine.memory import row_of
from simt.machine.values import Value
from simt.text import count
from simt.vocabulary.attributes import made_by_lowering, whole
from simt.vocabulary.functions import Function


def _ahead(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    counter, stop, step = arguments
    if isinstance(step, np.ndarray):
        return np.where(step > 0, counter < stop, counter > stop)
    return counter < stop if step > 0 else counter > stop


def _most_turns(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    lanes = machine.mask.lanes
    return min(int(np.max(n[lanes]) if isinstance(n, np.ndarray) else n) for n in arguments)


def _range_length(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    start, stop, step = arguments[0]
    return np.maximum(-(-(stop - start) // step), 0)


def _range_item(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    (start, _, step), turn = arguments
    return start + start.dtype.type(turn) * step


def _so_many(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    array, names = arguments
    length = array.shape[0]
    here = length[machine.mask.lanes] if isinstance(length, np.ndarray) else np.asarray(length)
    if (here != names).any():
        held, taken = count(int(here.max()), "value"), count(names, "name")
        fact = f"{array.name} holds {held} along its first axis, and {taken} take"
        fact += "s them" if names == 1 else " them"
        raise machine.kernel.refuse(call.line, fact, "name each of them")


def _failed(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    number = machine.mask.count
    ends = f"{count(number, 'thread')} end{'s' * (number == 1)} here"
    machine.printout.add(f"{arguments[0]}, {ends})")


def length_along(axis: int) -> Function:
    """Returns the function that gives an array's length along one of its axes."""
    return made_by_lowering(lambda machine, arguments, result: whole(arguments[0].shape[axis]))


AHEAD = made_by_lowering(_ahead)
"""(counter, stop, step) of a range -> whether there is another turn."""
MAX_TURNS = made_by_lowering(_most_turns)
"""Lengths -> the turns after which no lane of these goes on."""
LEAST = made_by_lowering(lambda machine, lengths, result: reduce(np.minimum, lengths))
"""Lengths -> the smallest."""
ARRAY_LENGTH = made_by_lowering(lambda machine, arguments, result: whole(arguments[0].shape[0]))
ROW = made_by_lowering(lambda machine, arguments, result: row_of(arguments[0], int(arguments[1])))
SO_MANY = Function(lambda arguments, nodes: None, _so_many)
"""(array, count): raises KernelRefused unless the array has so many cells or rows."""
RANGE_LENGTH = made_by_lowering(_range_length)
RANGE_ITEM = made_by_lowering(_range_item)
THREADS_END = made_by_lowering(_failed)
