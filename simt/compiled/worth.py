"""What a launch costs the interpreter, found in the kernel's tree before anything runs.

Statements are counted with the turns of the loops around them. Whole numbers are followed as
intervals over all threads of the launch, from its arguments, the shapes of its arrays and the
places of its threads: a loop whose turns hang on these is counted, any other is guessed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from simt.kernel import ir, trees
from simt.kernel.legality import STEPS_OF_ACCESSES
from simt.kernel.types import RangeType
from simt.machine.memory import Array
from simt.report import Dim3
from simt.vocabulary.loops import AHEAD, ARRAY_LENGTH, LEAST

GUESSED_TURNS = 16
"""Of a loop whose turns hang on what the arrays hold."""
MOST_TURNS_FOLLOWED = 4096
MAX_CALLS_DEEP = 32
MAX_FUNCTIONS = 2000
"""Calls of device functions looked into; a kernel with more is guessed from those."""

Interval = tuple[int, int]
Known = Any
"""An interval; None where nothing is known; of a tuple, one of these for each part."""


@dataclass(frozen=True)
class Effort:
    """What a batch of blocks does.

    Attributes:
        steps: of the step budget, as the tree has it.
        nodes: expressions worked out.
        floats: of them, those that give floating-point numbers.
        accesses: loads, stores and atomics, one for all lanes.
        most_steps: no batch spends more steps; None where that is not known.
    """

    steps: float = 0.0
    nodes: float = 0.0
    floats: float = 0.0
    accesses: float = 0.0
    most_steps: int | None = 0

    def __add__(self, other: Effort) -> Effort:
        most = None
        if self.most_steps is not None and other.most_steps is not None:
            most = self.most_steps + other.most_steps
        return Effort(
            self.steps + other.steps,
            self.nodes + other.nodes,
            self.floats + other.floats,
            self.accesses + other.accesses,
            most,
        )

    def times(self, turns: float, most: int | None) -> Effort:
        """The same so many times, and at most so many."""
        found = None
        if self.most_steps == 0:
            found = 0
        elif most is not None and self.most_steps is not None:
            found = self.most_steps * most
        return Effort(
            self.steps * turns,
            self.nodes * turns,
            self.floats * turns,
            self.accesses * turns,
            found,
        )


@dataclass(frozen=True)
class Size:
    """What a kernel's text has, with the functions it calls written out where they are called.

    Attributes:
        nodes: expressions.
        accesses: of them, those that touch memory.
    """

    nodes: int = 0
    accesses: int = 0


@functools.lru_cache(maxsize=256)
def size(code: ir.Code) -> Size:
    """Returns the size of a kernel."""
    nodes = accesses = 0
    for node in _everything(code):
        nodes += 1
        accesses += isinstance(node, ir.Load | ir.Store | ir.View) or _is_atomic(node)
    return Size(nodes, accesses)


def atomics(code: ir.Code) -> list[ir.Call]:
    """Returns the atomics of a kernel."""
    return [node for node in _everything(code) if _is_atomic(node)]


def _is_atomic(node: Any) -> bool:
    return isinstance(node, ir.Call) and node.path.startswith("cuda.atomic")


def _everything(code: ir.Code) -> Iterator[Any]:
    functions = 0
    waiting: list[Any] = list(code.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ir.DeviceCall) and functions < MAX_FUNCTIONS:
            functions += 1
            waiting.extend(node.code.body)
        for each in fields(node):
            value = getattr(node, each.name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, ir.Expression | ir.Statement):
                    waiting.append(part)


# Milliseconds on the machine of docs/simulator.md, as benchmarks/worth.py measures them. They alone
# decide when a launch is compiled: no clock is read.
NODE_MS, FLOAT_LANE_MS = 0.8e-3, 0.4e-6
ACCESS_MS, ACCESS_LANE_MS = 12e-3, 1.4e-6
NEW_ACCESS_LANE_MS = 12e-6
"""What a place that touches memory takes more for each lane the first time in a batch: its pattern
is not known yet."""
LAUNCH_MS = 0.2
WRITE_MS, WRITE_NODE_MS = 1.0, 0.06
COMPILE_MS, COMPILE_LETTER_MS = 5.0, 3.2e-3
RUN_MS, RUN_NODE_LANE_MS, RUN_ACCESS_LANE_MS = 0.1, 0.02e-6, 0.15e-6
STORED_BYTE_MS = 0.5e-6
"""They are copied before."""


def interpreted_ms(code: ir.Code, found: Effort, batches: int, lanes: int) -> float:
    """Returns what the interpreter takes for a launch of so many batches of so many lanes."""
    once = found.nodes * NODE_MS + found.floats * lanes * FLOAT_LANE_MS
    once += found.accesses * (ACCESS_MS + lanes * ACCESS_LANE_MS)
    once += size(code).accesses * lanes * NEW_ACCESS_LANE_MS
    return LAUNCH_MS + batches * once


def compiled_ms(found: Effort, lanes: int, stored_bytes: int) -> float:
    """Returns what a compiled launch of so many lanes takes, which stores to so many bytes."""
    each = found.nodes * RUN_NODE_LANE_MS + found.accesses * RUN_ACCESS_LANE_MS
    return RUN_MS + lanes * each + stored_bytes * STORED_BYTE_MS


def writing_ms(code: ir.Code) -> float:
    """Returns what it takes to write a kernel in LLVM's language."""
    return WRITE_MS + size(code).nodes * WRITE_NODE_MS


def compiling_ms(text: str) -> float:
    """Returns what it takes to compile a kernel that has been written."""
    return COMPILE_MS + len(text) * COMPILE_LETTER_MS


def effort(
    code: ir.Code,
    grid: Dim3,
    block: Dim3,
    arguments: Mapping[str, Any],
    turns: Mapping[int, int] | None = None,
) -> Effort:
    """Returns what one batch does of a launch.

    Args:
        code: the kernel.
        grid, block: the launch.
        arguments: parameter -> an Array or a NumPy scalar, as a Setting has them.
        turns: the most turns that any block has made in a loop at a time, by the loop's identity,
            where it has been counted.
    """
    known = {name: _given(value) for name, value in arguments.items()}
    return _Walk(grid, block, turns or {}).body(code.body, known)


def _given(value: Any) -> Known:
    if isinstance(value, Array):
        return tuple((side, side) if isinstance(side, int) else None for side in value.shape)
    if isinstance(value, np.generic) and value.dtype.kind in "iub":
        return int(value), int(value)
    return None


class _Walk:
    """Goes through a kernel once, in the order of its text."""

    def __init__(self, grid: Dim3, block: Dim3, counted: Mapping[int, int]) -> None:
        self.grid, self.block, self.counted = grid, block, counted
        self.depth = self.functions = 0

    # Statements

    def body(self, body: ir.Block, known: dict[Any, Known]) -> Effort:
        total = Effort()
        for node in body:
            total += self.statement(node, known)
        return total

    def statement(self, node: ir.Statement, known: dict[Any, Known]) -> Effort:
        total = Effort(node.steps, most_steps=node.steps)
        if isinstance(node, ir.Assign):
            total += self.expression(node.value, known)
            if node.target is not None:
                known[node.target] = self.value(node.value, known)
        elif isinstance(node, ir.Store):
            for each in (node.value, node.array, node.index):
                total += self.expression(each, known)
            steps = STEPS_OF_ACCESSES["store"]
            total += Effort(steps, nodes=1, accesses=1, most_steps=steps)
        elif isinstance(node, ir.If):
            total += self.expression(node.test, known)
            other = dict(known)
            total += self.body(node.body, known) + self.body(node.orelse, other)
            for name in {*known, *other}:
                known[name] = _either(known.get(name), other.get(name))
        elif isinstance(node, ir.Loop):
            total += self.loop(node, known)
        elif isinstance(node, ir.Leave) and node.value is not None:
            total += self.expression(node.value, known)
        return total

    def loop(self, node: ir.Loop, known: dict[Any, Known]) -> Effort:
        total = self.body(node.before, known)
        changed = {*trees.names_given(node.body), *trees.names_given(node.after)}
        turns = self.turns(node, known, changed)
        counter = self.counter(node, known)
        for name in changed:
            known[name] = None
        if counter is not None:
            known[counter[0]] = counter[1]
        inside = dict(known)
        turn = Effort(node.steps, most_steps=node.steps) + self.expression(node.test, inside)
        if node.most is not None:
            total += self.expression(node.most, inside)
        often = GUESSED_TURNS if turns is None else turns
        # The test that ends it is a turn as well, but for what is done in it.
        total += turn.times(often + 1, None if turns is None else turns + 1)
        done = self.body(node.body, inside) + self.body(node.after, inside)
        total += done.times(often, turns)
        if counter is not None:
            known[counter[0]] = None
        return total + self.body(node.orelse, known)

    def turns(self, node: ir.Loop, known: Mapping[Any, Known], changed: set[Any]) -> int | None:
        """Returns the most turns that a thread makes, or None."""
        found = [
            turns
            for test in trees.conjuncts(node.test)
            if (turns := self._turns_of(test, node, known, changed)) is not None
        ]
        found += [self.counted[id(node)]] if id(node) in self.counted else []
        return min(found, default=None)

    def _turns_of(
        self, test: ir.Expression, node: ir.Loop, known: Mapping[Any, Known], changed: set[Any]
    ) -> int | None:
        if isinstance(test, ir.Call) and test.function is AHEAD:
            counter, stop, step = test.arguments
            by = _one(self.value(step, known))
            if by is None or by == 0:
                return None
            operator = "Lt" if by > 0 else "Gt"
        elif isinstance(test, ir.Compare) and len(test.operators) == 1:
            (operator,), (counter, stop) = test.operators, test.operands
            if trees.name_of(counter) not in changed and trees.name_of(stop) in changed:
                counter, stop = stop, counter
                operator = _TURNED.get(operator, operator)
        else:
            return None
        name = trees.name_of(counter)
        first, end = self.value(counter, known), self.value(stop, known)
        if name not in changed or any(each in changed for each in trees.names_read(stop)):
            return None
        if operator not in _HOLDS or not _is_interval(first) or not _is_interval(end):
            return None
        onward = self._onward(name, node, known, changed)
        if onward is None or (operator.startswith("Gt") and counter.type.kind == "u"):  # type: ignore[union-attr]
            return None
        # A later beginning and an earlier end never make more turns, or never fewer: what is
        # done to the counter keeps the order of any two. So the corners have the most.
        corners = [_count(a, operator, b, onward) for a in first for b in end]
        return None if any(each is None for each in corners) else max(corners)  # type: ignore[type-var]

    def _onward(
        self, name: Any, node: ir.Loop, known: Mapping[Any, Known], changed: set[Any]
    ) -> tuple[str, int] | None:
        """What a turn does to the counter: (operator, by what), where it does one thing, always."""
        at_top = [
            each
            for each in (*node.body, *node.after)
            if isinstance(each, ir.Assign) and each.target == name
        ]
        everywhere = [*trees.names_given(node.body), *trees.names_given(node.after)].count(name)
        if len(at_top) != 1 or everywhere != 1:
            return None
        if at_top[0] in node.body and _continues(node.body):
            return None
        step = at_top[0].value
        if not isinstance(step, ir.Binary) or trees.name_of(step.left) != name:
            return None
        if any(each in changed for each in trees.names_read(step.right)):
            return None
        by = _one(self.value(step.right, known))
        if by is None or step.operator not in _STEPS or not _STEPS[step.operator][0](by):
            return None
        return step.operator, by

    def counter(self, node: ir.Loop, known: Mapping[Any, Known]) -> tuple[Any, Interval] | None:
        """What the counter of a range is within the loop."""
        if not isinstance(node.test, ir.Compare) or len(node.test.operands) != 2:
            return None
        counter, stop = node.test.operands
        first, end = self.value(counter, known), self.value(stop, known)
        onward = self._onward(trees.name_of(counter), node, known, {trees.name_of(counter)})
        if onward is None or not _is_interval(first) or not _is_interval(end):
            return None
        if node.test.operators[0] == "Lt" and onward[0] == "Add" and onward[1] > 0:
            return trees.name_of(counter), (first[0], max(first[1], end[1] - 1))
        if node.test.operators[0] == "Gt" and onward[0] == "Add" and onward[1] < 0:
            return trees.name_of(counter), (min(first[0], end[0] + 1), first[1])
        return None

    # What an expression costs

    def expression(self, node: ir.Expression, known: dict[Any, Known]) -> Effort:
        works = isinstance(node, ir.Binary | ir.Unary | ir.Call | ir.Compare)
        real = works and any(getattr(n.type, "kind", "") == "f" for n in (node, *trees.parts(node)))
        total = Effort(nodes=1, floats=real)
        if isinstance(node, ir.Load | ir.View):
            steps = STEPS_OF_ACCESSES["load"]
            total += Effort(steps, accesses=1, most_steps=steps)
        elif isinstance(node, ir.Call) and node.path.startswith("cuda.atomic"):
            steps = STEPS_OF_ACCESSES["atomic"]
            total += Effort(steps, accesses=1, most_steps=steps)
        elif isinstance(node, ir.DeviceCall):
            total += self._device_call(node, known)
        for each in trees.parts(node):
            total += self.expression(each, known)
        return total

    def _device_call(self, node: ir.DeviceCall, known: dict[Any, Known]) -> Effort:
        self.functions += 1
        if self.depth >= MAX_CALLS_DEEP or self.functions > MAX_FUNCTIONS:
            return Effort(most_steps=None)
        given = {
            name: self.value(value, known)
            for name, value in zip(node.code.parameters, node.arguments, strict=True)
        }
        self.depth += 1
        found = self.body(node.code.body, given)
        self.depth -= 1
        return found

    # What a whole number may be, over all threads

    def value(self, node: ir.Expression, known: Mapping[Any, Known]) -> Known:
        """Returns what is known of an expression."""
        found = self._value(node, known)
        if _is_interval(found) and isinstance(node.type, np.dtype):
            if node.type.kind not in "iub":
                return None
            if node.type.kind in "iu":
                fits = np.iinfo(node.type)
                if found[0] < fits.min or found[1] > fits.max:
                    return None
        return found

    def _value(self, node: ir.Expression, known: Mapping[Any, Known]) -> Known:
        if isinstance(node, ir.Constant):
            is_whole = isinstance(node.value, np.integer | int | np.bool_)
            return (int(node.value), int(node.value)) if is_whole else None
        if isinstance(node, ir.Read):
            return known.get(node.variable)
        if isinstance(node, ir.Temporary):
            return known.get(node.number)
        if isinstance(node, ir.Tuple):
            return tuple(self.value(each, known) for each in node.parts)
        if isinstance(node, ir.Element):
            owner = self.value(node.owner, known)
            if isinstance(owner, tuple) and isinstance(node.index, int) and not _is_interval(owner):
                return owner[node.index] if -len(owner) <= node.index < len(owner) else None
            return None
        if isinstance(node, ir.Binary):
            left, right = self.value(node.left, known), self.value(node.right, known)
            if _is_interval(left) and _is_interval(right):
                return _binary(node.operator, left, right)
            return None
        if isinstance(node, ir.Unary) and node.operator == "USub":
            found = self.value(node.operand, known)
            return (-found[1], -found[0]) if _is_interval(found) else None
        if isinstance(node, ir.Select):
            return _either(self.value(node.yes, known), self.value(node.no, known))
        if isinstance(node, ir.Call):
            return self._call(node, known)
        return None

    def _call(self, node: ir.Call, known: Mapping[Any, Known]) -> Known:
        path = node.path
        word, _, axis = path.rpartition(".")
        if word in _PLACES and axis in "xyz":
            block, grid = self.block["xyz".index(axis)], self.grid["xyz".index(axis)]
            return {
                "cuda.threadIdx": (0, block - 1),
                "cuda.blockIdx": (0, grid - 1),
                "cuda.blockDim": (block, block),
                "cuda.gridDim": (grid, grid),
            }[word]
        if path in ("cuda.grid", "cuda.gridsize"):
            sides = [b * g for b, g in zip(self.block, self.grid, strict=True)]
            found = [(n, n) if path == "cuda.gridsize" else (0, n - 1) for n in sides]
            return found[0] if isinstance(node.type, np.dtype) else tuple(found)
        if path == "cuda.laneid":
            return 0, 31
        if path == "cuda.warpsize":
            return 32, 32
        given = [self.value(each, known) for each in node.arguments]
        if path == "array.shape":
            return given[0]
        if path == "array.size":
            if isinstance(given[0], tuple) and all(map(_is_interval, given[0])):
                size = math.prod(side[0] for side in given[0])
                return size, size
            return None
        if node.function is ARRAY_LENGTH or path == "builtin.len":
            shape = given[0] if given else None
            return shape[0] if isinstance(shape, tuple) and _is_shape(shape) else None
        if isinstance(node.type, RangeType):
            one, zero = (1, 1), (0, 0)
            return {
                1: lambda: (zero, given[0], one),
                2: lambda: (given[0], given[1], one),
                3: lambda: tuple(given),
            }[len(given)]()
        if not given or not all(map(_is_interval, given)):
            return None
        if path == "builtin.min" or node.function is LEAST:
            return min(each[0] for each in given), min(each[1] for each in given)
        if path == "builtin.max":
            return max(each[0] for each in given), max(each[1] for each in given)
        if len(given) == 1 and path.startswith(("numba.int", "numba.uint", "builtin.int")):
            return given[0]
        return None


_PLACES = ("cuda.threadIdx", "cuda.blockIdx", "cuda.blockDim", "cuda.gridDim")
_HOLDS = {
    "Lt": lambda a, b: a < b, "LtE": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b, "GtE": lambda a, b: a >= b,
}  # fmt: skip
_TURNED = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}
_STEPS: dict[str, Any] = {
    "Add": (lambda by: by != 0, lambda a, by: a + by),
    "Sub": (lambda by: by != 0, lambda a, by: a - by),
    "Mult": (lambda by: by > 1, lambda a, by: a * by),
    "FloorDiv": (lambda by: by > 1, lambda a, by: a // by),
    "RShift": (lambda by: 0 < by < 32, lambda a, by: a >> by),
    "LShift": (lambda by: 0 < by < 32, lambda a, by: a << by),
}


def _count(first: int, operator: str, end: int, onward: tuple[str, int]) -> int | None:
    """How many turns a counter makes; None for so many that nobody counts, or for no end."""
    holds, (_, step), by = _HOLDS[operator], _STEPS[onward[0]], onward[1]
    if onward[0] in ("Add", "Sub"):
        by = by if onward[0] == "Add" else -by
        if not holds(first, end):
            return 0
        if (by > 0) != operator.startswith("Lt"):
            return None
        if abs(end) + abs(by) >= 1 << 31:
            return None
        far = abs(end - first) + (operator in ("LtE", "GtE"))
        return -(-far // abs(by))
    turns = 0
    while holds(first, end):
        turns += 1
        after = step(first, by)
        if turns > MOST_TURNS_FOLLOWED or after == first or abs(after) >= 1 << 31:
            return None
        first = after
    return turns


def _binary(operator: str, left: Interval, right: Interval) -> Known:
    if operator == "Add":
        return left[0] + right[0], left[1] + right[1]
    if operator == "Sub":
        return left[0] - right[1], left[1] - right[0]
    if operator == "Mult":
        corners = [a * b for a in left for b in right]
        return min(corners), max(corners)
    if operator in ("FloorDiv", "RShift", "LShift", "Mod") and right[0] == right[1]:
        by = right[0]
        if operator == "FloorDiv" and by > 0:
            return left[0] // by, left[1] // by
        if operator == "RShift" and 0 <= by < 32:
            return left[0] >> by, left[1] >> by
        if operator == "LShift" and 0 <= by < 32 and left[0] >= 0:
            return left[0] << by, left[1] << by
        if operator == "Mod" and by > 0:
            return (left[0] % by,) * 2 if left[0] == left[1] else (0, by - 1)
    return None


def _is_interval(known: Known) -> bool:
    return isinstance(known, tuple) and len(known) == 2 and isinstance(known[0], int)


def _is_shape(known: tuple[Known, ...]) -> bool:
    return bool(known) and all(each is None or _is_interval(each) for each in known)


def _one(known: Known) -> int | None:
    return known[0] if _is_interval(known) and known[0] == known[1] else None


def _either(one: Known, other: Known) -> Known:
    if one == other:
        return one
    if _is_interval(one) and _is_interval(other):
        return min(one[0], other[0]), max(one[1], other[1])
    if _is_interval(one) or _is_interval(other):
        return None
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(map(_either, one, other))
    return None


def _continues(body: Iterable[ir.Statement]) -> bool:
    """Whether a turn may go on to the next one before its end."""
    for node in body:
        if isinstance(node, ir.Leave) and node.how == "continue":
            return True
        if isinstance(node, ir.If) and (_continues(node.body) or _continues(node.orelse)):
            return True
        if isinstance(node, ir.Loop) and _continues(node.orelse):
            return True
    return False
