"""Runs one batch of blocks in lockstep: one method per statement, the mask explicit.

A value is a NumPy scalar while every lane agrees on it, and a vector with one entry per lane once
they differ. A statement takes the mask of the lanes that reach it and returns the mask of those
that go on to the next one; `break`, `continue` and `return` take lanes out on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpu_course.simt import waiting
from gpu_course.simt.expressions import Expressions
from gpu_course.simt.inference import Inferred
from gpu_course.simt.lanes import Mask
from gpu_course.simt.legality import Program
from gpu_course.simt.machine import Variable
from gpu_course.simt.memory import Array
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import FLOAT32
from gpu_course.simt.values import merge, poison
from gpu_course.simt.vocabulary.functions import Value, cast, truth

MOST_WAITING_TURNS = 250
MOST_TURNS_WITH_ATOMICS = 2500


class EndlessLoop(Exception):
    """A loop that cannot end, or a batch that has spent its steps."""

    def __init__(self, line: int, threads: np.ndarray, facts: dict[str, Any]) -> None:
        self.line = line
        self.threads = threads
        self.facts = facts
        super().__init__(line)


class Waits(Exception):
    """A loop whose lanes wait for others, which cannot go on while all run in step.

    Attributes:
        kernel, node: the loop.
    """

    def __init__(self, kernel: Kernel, node: ast.stmt) -> None:
        self.kernel = kernel
        self.node = node
        super().__init__(f"{kernel.name}, line {node.lineno}")


@dataclass
class Loop:
    """The lanes that left the innermost loop, or skipped the rest of an iteration.

    Attributes:
        broken, continued: these lanes.
        turns: how many turns in a row no lane has left it.
        seen: what the variables were, a turn ago.
    """

    broken: Mask
    continued: Mask
    turns: int = 0
    seen: Any = None


class Interpreter(Expressions):
    """Executes the statements of a kernel for one batch of blocks."""

    def __init__(self, *state: Any) -> None:
        super().__init__(*state)
        self.loops: list[Loop] = []
        self.depth = 0
        self.result: Value = None
        self._asked: dict[ast.stmt, str] = {}

    def run(self, start: Mask | None = None) -> None:
        """Runs the kernel's body with every thread of the batch, or with some of them."""
        self.faults.running = self.program.kernel
        self.mask = start or self.lanes.alive
        self.block(self.program.kernel.tree.body, self.mask)

    # Statements: (node, mask) -> the mask of the lanes that go on

    def block(self, body: Sequence[ast.stmt], mask: Mask) -> Mask:
        for node in body:
            if not mask:
                break
            self.steps_left -= 1
            if self.steps_left < 0:
                self._stop(node, mask)
            self.mask = mask
            mask = getattr(self, "do_" + type(node).__name__)(node, mask)
        return mask

    def do_Pass(self, node: ast.Pass, mask: Mask) -> Mask:  # pass
        return mask

    def do_Expr(self, node: ast.Expr, mask: Mask) -> Mask:  # a docstring, or a call
        if isinstance(node.value, ast.Call):
            self.unused.add(node.value)
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)
        return mask

    def do_Assign(self, node: ast.Assign, mask: Mask) -> Mask:  # target = ... = value
        if isinstance(node.value, ast.Call) and node.value in self.requests:
            return self.hold(node.targets[0], node.value, mask)
        cells = self.program.passed_on.get(node.value, node.targets)
        self._narrowed = node.value if self._stores_float32(cells) else None
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)
        return mask

    def hold(self, target: ast.expr, call: ast.Call, mask: Mask) -> Mask:
        """name = cuda.shared.array(shape, dtype)"""
        assert isinstance(target, ast.Name)
        array = self.arena.array(call, self.requests[call], target.id)
        self.variables[self.program.assigned(target)] = Variable(array, None)
        return mask

    def do_AnnAssign(self, node: ast.AnnAssign, mask: Mask) -> Mask:  # target: type = value
        if node.value is not None:
            self.assign(node.target, self.value(node.value))
        return mask

    def do_AugAssign(self, node: ast.AugAssign, mask: Mask) -> Mask:  # target += value
        if isinstance(node.target, ast.Subscript | ast.Attribute):
            at, (array, indices) = self.place(node.target)
            old = self.load(at, array, indices)
            self._narrowed = node if array.dtype == FLOAT32 else None
            new = self.operation(node, node.op, old, self.value(node.value))
            self.store(at, array, indices, new)
        else:
            assert isinstance(node.target, ast.Name)
            old = self.read(node.target)
            new = self.operation(node, node.op, old, self.value(node.value))
            self.assign(node.target, new)
        return mask

    def do_If(self, node: ast.If, mask: Mask) -> Mask:  # if test: ... else: ...
        taken = self.split(node.test, mask)
        if taken is mask:
            return self.block(node.body, mask)
        if not taken:
            return self.block(node.orelse, mask)
        passed = self.block(node.body, taken)
        return passed.union(self.block(node.orelse, mask.without(taken)))

    def do_While(self, node: ast.While, mask: Mask) -> Mask:  # while test: ... else: ...
        loop = Loop(self.lanes.nobody, self.lanes.nobody)
        self.loops.append(loop)
        hopeless = self._never_changes(node)
        running, finished = mask, self.lanes.nobody
        while running:
            self._spend(node, running)
            self.mask = running
            taken = self.split(node.test, running)
            if taken is not running:
                finished = finished.union(running.without(taken))
            if taken and hopeless:
                self._stop(node, taken, hopeless=True)
            running = self.block(node.body, taken).union(loop.continued)
            loop.continued = self.lanes.nobody
            self._turned(node, loop, running, taken)
        self.loops.pop()
        return self.block(node.orelse, finished).union(loop.broken)

    def do_For(self, node: ast.For, mask: Mask) -> Mask:  # for i in range(...): ... else: ...
        if not _is_range(node.iter):
            return self.for_items(node, mask)
        start, stop, step = self.value(node.iter)
        loop = Loop(self.lanes.nobody, self.lanes.nobody)
        self.loops.append(loop)
        running, finished = mask, self.lanes.nobody
        counter = start
        while running:
            self._spend(node, running)
            if isinstance(step, np.ndarray):
                condition = np.where(step > 0, counter < stop, counter > stop)
            else:
                condition = counter < stop if step > 0 else counter > stop
            taken = self.part(node.lineno, condition, running)
            if taken is not running:
                finished = finished.union(running.without(taken))
            if not taken:
                break
            self.mask = taken
            self.assign(node.target, counter)
            running = self.block(node.body, taken).union(loop.continued)
            loop.continued = self.lanes.nobody
            self._turned(node, loop, running, taken)
            counter = counter + step
        self.loops.pop()
        return self.block(node.orelse, finished).union(loop.broken)

    def for_items(self, node: ast.For, mask: Mask) -> Mask:
        """for x in array, tuple, enumerate(...) or zip(...): as many turns for every lane"""
        items = self.items(node.iter)
        loop = Loop(self.lanes.nobody, self.lanes.nobody)
        self.loops.append(loop)
        running = mask
        for item in items:
            self._spend(node, running)
            if not running:
                break
            self.mask = running
            self.part(node.lineno, True, running)
            self.assign(node.target, item())
            running = self.block(node.body, running).union(loop.continued)
            loop.continued = self.lanes.nobody
        self.loops.pop()
        return self.block(node.orelse, running).union(loop.broken)

    def items(self, node: ast.expr) -> list[Callable[[], Value]]:
        """What a loop gives turn by turn; each is read when its turn comes."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "enumerate":
                items = self.items(node.args[0])
                return [partial(_pair, np.int64(k), item) for k, item in enumerate(items)]
            if node.func.id == "zip":
                rows = zip(*map(self.items, node.args), strict=False)
                return [partial(_each, row) for row in rows]
        value = self.value(node)
        if _is_range(node):
            return [partial(_same, value[0].dtype.type(k)) for k in range(*map(int, value))]
        if isinstance(value, tuple):
            return [partial(_same, part) for part in value]
        count = value.shape[0]
        if isinstance(count, np.ndarray):
            fact = "a loop over a view whose length differs between threads"
            raise self.program.kernel.refuse(node, f"the simulator does not know {fact}")
        return [partial(self.load, node, value, (np.int64(k),)) for k in range(int(count))]

    def place(
        self, target: ast.Subscript | ast.Attribute
    ) -> tuple[ast.Subscript, tuple[Array, tuple[Value, ...]]]:
        """Where a[i] = ... or a[i].x = ... writes."""
        if isinstance(target, ast.Subscript):
            return target, self.cell(target)
        assert isinstance(target.value, ast.Subscript)
        return target.value, self.field(target)

    def do_Break(self, node: ast.Break, mask: Mask) -> Mask:  # break
        self.loops[-1].broken = self.loops[-1].broken.union(mask)
        return self.lanes.nobody

    def do_Continue(self, node: ast.Continue, mask: Mask) -> Mask:  # continue
        self.loops[-1].continued = self.loops[-1].continued.union(mask)
        return self.lanes.nobody

    def do_Return(self, node: ast.Return, mask: Mask) -> Mask:  # return
        if not self.depth:
            self.returned |= mask.active
        elif self.inferred.result is not None and node.value is not None:
            value = cast(self.value(node.value), self.inferred.result)
            known = self.result is not None
            self.result = merge(mask.active, value, self.result) if known else value
        return self.lanes.nobody

    def do_Assert(self, node: ast.Assert, mask: Mask) -> Mask:  # assert test, "message"
        """A thread whose test fails ends there, as it does on a GPU; here it also says so."""
        good = self.split(node.test, mask)
        bad = mask.without(good)
        if bad:
            text = ast.unparse(node.msg) if node.msg is not None else ast.unparse(node.test)
            self.printout.add(
                f"AssertionError: {text} (line {node.lineno}, {bad.count:,} threads end here)"
            )
            self.returned |= bad.active
        return good

    def call_device(self, device: Program, inferred: Inferred, arguments: list[Value]) -> Value:
        """Runs a device function with the lanes that call it; returns what it returns."""
        caller = self.program, self.inferred, self.types, self.variables, self.loops, self.result
        mask = self.mask
        self.program, self.inferred, self.types = device, inferred, inferred.types
        self.variables = {
            name: Variable(cast(value, inferred.types[name]), None)
            for name, value in zip(device.kernel.parameters, arguments, strict=True)
        }
        self.loops, self.result = [], None
        self.depth += 1
        self.faults.running = device.kernel
        self.block(device.kernel.tree.body, mask)
        self.depth -= 1
        result = self.result
        self.program, self.inferred, self.types, self.variables, self.loops, self.result = caller
        self.faults.running = self.program.kernel
        self.mask = mask
        return poison(inferred.result) if result is None else result

    def split(self, test: ast.expr, mask: Mask) -> Mask:
        """Returns the lanes of the mask whose test is true; the mask itself when all are."""
        return self.part(test.lineno, truth(self.value(test)), mask)

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            for part, element in zip(target.elts, value, strict=True):
                self.assign(part, element)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            at, (array, indices) = self.place(target)
            self.store(at, array, indices, value)
        else:
            assert isinstance(target, ast.Name)
            version = self.program.assigned(target)
            self.write(version, cast(value, self.types[version]))

    # Loops that do not end

    def _spend(self, node: ast.For | ast.While, mask: Mask) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:
            self._stop(node, mask)

    def _never_changes(self, node: ast.While) -> bool:
        """True when nothing in the loop's body can make its test come out differently."""
        if any(isinstance(n, ast.Subscript | ast.Call) for n in ast.walk(node.test)):
            return False
        inside = [n for statement in node.body for n in ast.walk(statement)]
        if any(isinstance(n, ast.Break | ast.Return) for n in inside):
            return False
        changed = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        asked = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
        return not changed & asked

    def _asks(self, node: ast.stmt) -> str:
        if node not in self._asked:
            self._asked[node] = waiting.asks(self.program, node)
        return self._asked[node]

    def _turned(self, node: ast.For | ast.While, loop: Loop, running: Mask, taken: Mask) -> None:
        """Ends a launch in lockstep where a loop's lanes wait for others."""
        loop.turns = loop.turns + 1 if running.count == taken.count else 0
        if loop.turns < MOST_WAITING_TURNS or not self._asks(node):
            return
        if self._asks(node) == waiting.ATOMIC and loop.turns >= MOST_TURNS_WITH_ATOMICS:
            raise Waits(self.program.kernel, node)
        if loop.turns % MOST_WAITING_TURNS == 0:
            loop.seen = waiting.snapshot(self.variables)
        elif loop.turns % MOST_WAITING_TURNS == 1 and waiting.unchanged(
            loop.seen, waiting.snapshot(self.variables)
        ):
            raise Waits(self.program.kernel, node)

    def _stop(self, node: ast.stmt, mask: Mask, *, hopeless: bool = False) -> None:
        if not hopeless and self._asks(node) == waiting.ATOMIC:
            raise Waits(self.program.kernel, node)
        test = node.test if isinstance(node, ast.While) else None
        facts = {
            "hopeless": hopeless,
            "test": ast.unparse(test) if test is not None else "",
            "names": self._names_in(test, mask.lanes) if test is not None else {},
        }
        raise EndlessLoop(node.lineno, self.lanes.global_thread[mask.lanes], facts)


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def _same(value: Value) -> Value:
    return value


def _pair(first: Value, second: Callable[[], Value]) -> Value:
    return first, second()


def _each(row: Sequence[Callable[[], Value]]) -> Value:
    return tuple(item() for item in row)
