"""Runs one batch of blocks in lockstep: one method per statement, the mask explicit.

A value is a NumPy scalar while every lane agrees on it, and a vector with one entry per lane once
they differ. A statement takes the mask of the lanes that reach it and returns the mask of those
that go on to the next one; `break`, `continue` and `return` take lanes out on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from gpu_course.simt.endless import Limited, Loop
from gpu_course.simt.inferred import Inferred
from gpu_course.simt.lanes import Mask
from gpu_course.simt.memory import Array, row_of
from gpu_course.simt.types import FLOAT32
from gpu_course.simt.values import merge, poison
from gpu_course.simt.variables import Value, Variable
from gpu_course.simt.vocabulary.functions import Range, cast, truth


class Interpreter(Limited):
    """Executes the statements of a kernel for one batch of blocks."""

    def __init__(self, *state: Any) -> None:
        super().__init__(*state)
        self.loops: list[Loop] = []
        self.depth = 0
        self.result: Value = None
        self.followers = [o for o in self.observers if o.follows]

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
            self.steps_left -= self.program.efforts[node]
            if self.steps_left < 0:
                self._stop(node, mask)
            self.mask = mask
            for follower in self.followers:
                follower.statement(self, node, mask, False)
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
        value = None if _is_zip(node.iter) else self.value(node.iter)
        if not isinstance(value, Range):
            return self.for_items(node, mask, value)
        start, stop, step = value
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

    def for_items(self, node: ast.For, mask: Mask, iterated: Value) -> Mask:
        """for x in array, tuple, enumerate(...) or zip(...): lanes may differ in how many turns"""
        turns, length = self.items(node.iter, iterated)
        loop = Loop(self.lanes.nobody, self.lanes.nobody)
        self.loops.append(loop)
        running, finished = mask, self.lanes.nobody
        for number, item in enumerate(turns):
            self._spend(node, running)
            if not running:
                break
            self.mask = running
            taken = self.part(node.lineno, number < length, running)
            if taken is not running:
                finished = finished.union(running.without(taken))
            self.mask = taken
            self.assign(node.target, item())
            running = self.block(node.body, taken).union(loop.continued)
            loop.continued = self.lanes.nobody
        self.loops.pop()
        return self.block(node.orelse, finished.union(running)).union(loop.broken)

    def items(
        self, node: ast.expr, value: Value = None
    ) -> tuple[Iterable[Callable[[], Value]], Value]:
        """What a loop gives turn by turn, each thought of when its turn comes; and how many."""
        if _is_zip(node):
            assert isinstance(node, ast.Call)
            parts = [self.items(a) for a in node.args]
            if ast.unparse(node.func) == "enumerate":
                ((items, length),) = parts
                return (partial(_pair, np.int64(k), item) for k, item in enumerate(items)), length
            rows = zip(*(items for items, _ in parts), strict=False)
            return (partial(_each, row) for row in rows), reduce(np.minimum, [n for _, n in parts])
        value = self.value(node) if value is None else value
        if isinstance(value, Range):
            start, stop, step = value
            length = np.maximum(-(-(stop - start) // step), 0)
            turns = range(self.most(length))
            return (partial(_same, start + start.dtype.type(k) * step) for k in turns), length
        if isinstance(value, tuple):
            return (partial(_same, part) for part in value), np.int64(len(value))
        length, turns = value.shape[0], range(self.most(value.shape[0]))
        if len(value.shape) > 1:
            return (partial(row_of, value, k) for k in turns), length
        return (partial(self.load, node, value, (np.int64(k),)) for k in turns), length

    def most(self, length: Value) -> int:
        """The greatest of a number over the active lanes."""
        return int(np.max(length[self.mask.lanes]) if isinstance(length, np.ndarray) else length)

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
        elif node.value is not None:
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

    def call_device(self, inferred: Inferred, arguments: list[Value]) -> Value:
        """Runs a device function with the lanes that call it; returns what it returns."""
        caller = self.program, self.inferred, self.types, self.variables, self.loops, self.result
        mask, device = self.mask, inferred.program
        assert device is not None
        self.program, self.inferred, self.types = device, inferred, inferred.types
        self.variables = {
            name: Variable(cast(cast(value, type_), inferred.types[name]), None)
            for name, value, type_ in zip(
                device.kernel.parameters, arguments, inferred.parameters, strict=True
            )
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

    def _spend(self, node: ast.For | ast.While, mask: Mask) -> None:
        self.steps_left -= self.program.efforts[node]
        if self.steps_left < 0:
            self._stop(node, mask)
        for follower in self.followers:
            follower.statement(self, node, mask, True)


def _is_zip(node: ast.expr) -> bool:
    """True for zip(...) and enumerate(...), which a loop takes apart."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return named and node.func.id in ("enumerate", "zip")  # type: ignore[attr-defined]


def _same(value: Value) -> Value:
    return value


def _pair(first: Value, second: Callable[[], Value]) -> Value:
    return first, second()


def _each(row: Sequence[Callable[[], Value]]) -> Value:
    return tuple(item() for item in row)
