"""Runs lowered code for one batch of blocks in lockstep: one method per node, the mask explicit.

A value is a NumPy scalar while every lane agrees on it, and a vector with one entry per lane once
they differ. A statement takes the mask of the lanes that reach it and returns the mask of those
that go on to the next one; `break`, `continue` and `return` take lanes out on the way. A device
function runs in a frame of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.errors import place
from simt.kernel import ir, types
from simt.kernel.source import Kernel
from simt.kernel.types import INT64, Type
from simt.machine import memory_access, watchdog
from simt.machine.faults import Fault
from simt.machine.lanes import Lanes, Mask
from simt.machine.machine import Context, Turns
from simt.machine.memory import Array
from simt.machine.observer import AccessPattern, Observer, Setting
from simt.machine.values import (
    MixedArrays,
    Reassigned,
    Several,
    Value,
    Variable,
    binary,
    cast,
    compare,
    counted_as,
    fits_float32,
    merge,
    poison,
    settled,
    truth,
    unary,
)
from simt.vocabulary.allocate import Arena

# Each takes a few frames of Python's own stack, of which there are a thousand.
MAX_CALLS_UNDER_WAY = 64
# Vectors kept beside what they were cast to; a kernel has few index variables.
MAX_CONVERTED = 16


@dataclass(slots=True)
class Frame:
    """A call under way: of the kernel, or of a device function.

    Attributes:
        code: the function.
        variables: what its variables hold.
        temporaries: what its statements have put aside.
        calls: the lines of the calls that led here.
        caller: in a function of another file than the kernel's, the last line of the kernel's own
            file that led here: "puzzles/guard.py:12"; else "".
        loops: the loops under way in it, the innermost last.
        result: what has been returned so far.
    """

    code: ir.Code
    variables: dict[str, Variable]
    temporaries: list[Value]
    calls: tuple[int, ...] = ()
    caller: str = ""
    loops: list[Turns] = field(default_factory=list)
    result: Value = None


class Interpreter:
    """Executes a kernel for some lanes, which take each step together.

    Args:
        setting: the launch.
        lanes: the batch; or one warp of it.
        audience: told of every access, branch and operation.
        steps: statements that may be executed.
        arena: the shared and local memory of the batch.
        context: where warps or threads take turns, the one that is run.
    """

    def __init__(
        self,
        setting: Setting,
        lanes: Lanes,
        audience: Observer,
        steps: int,
        *,
        arena: Arena | None = None,
        context: Context | None = None,
    ) -> None:
        code, seed = setting.code, setting.order_seed
        self.setting = setting
        self.policy = setting.policy
        self.printout = setting.printout
        self.lanes = lanes
        self.mask = lanes.alive
        self.returned = np.zeros(lanes.count, bool)
        self.audience = audience
        self.steps_left = self._steps = steps
        self._put_by = 0
        self._meanwhile: Callable[[int], float] | None = None
        self.arena = arena or Arena(lanes, setting.dynamic_bytes)
        self.context = context
        self.apart = code.mixed_widths
        self.rng = None if seed is None else np.random.default_rng(seed)
        self.patterns: dict[int, AccessPattern] = {}
        self._converted: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.frame = _frame(code, setting.arguments.values(), ())

    @property
    def kernel(self) -> Kernel:
        """The function that is executed."""
        return self.frame.code.kernel

    @property
    def caller(self) -> str:
        """The line of the kernel's own file that led into a function of another one; else ""."""
        return self.frame.caller

    @property
    def variables(self) -> dict[str, Variable]:
        """What its variables hold."""
        return self.frame.variables

    @property
    def depth(self) -> int:
        """How many calls lie above it."""
        return len(self.frame.calls)

    def run(self, start: Mask | None = None) -> None:
        """Runs the kernel's body with every thread of the batch, or with some of them."""
        self.block(self.frame.code.body, start or self.lanes.alive)

    @property
    def steps_taken(self) -> int:
        """The statements that have been executed."""
        return self._steps - self.steps_left - self._put_by

    def ask(self, meanwhile: Callable[[int], float]) -> None:
        """Asks somebody as it goes, with the steps taken so far, who may end it by an exception.

        Args:
            meanwhile: steps -> after how many more to ask again; infinity: never.
        """
        self._meanwhile = meanwhile
        self._ask()

    def _ask(self) -> None:
        assert self._meanwhile is not None
        left = self.steps_left + self._put_by
        more = self._meanwhile(self.steps_taken)
        self.steps_left = left if more >= left else int(more)
        self._put_by = left - self.steps_left

    # Statements: (node, mask) -> the mask of the lanes that go on

    def block(self, body: ir.Block, mask: Mask) -> Mask:
        for node in body:
            if not mask:
                break
            if node.steps:
                self._spend(node, mask, turn=False)
            self.mask = mask
            mask = _STATEMENTS[type(node)](self, node, mask)
        return mask

    def _spend(self, node: ir.Statement, mask: Mask, *, turn: bool) -> None:
        """A statement is come to, or another turn of a loop."""
        self.steps_left -= node.steps
        if self.steps_left < 0:
            self._give_up(node, mask)
        if self.audience.follows:
            self.audience.statement(self, node, mask, turn)

    def _give_up(self, node: ir.Statement, mask: Mask, *, hopeless: bool = False) -> None:
        if self.context is not None and not hopeless:
            self.context.out_of_steps(node, mask)
        if self._put_by and not hopeless:
            self._ask()
            if self.steps_left >= 0:
                return
        watchdog.give_up(self, node, mask, hopeless=hopeless)

    def assign(self, node: ir.Assign, mask: Mask) -> Mask:  # x = value
        value, target = self.value(node.value), node.target
        if isinstance(target, str):
            if node.everywhere:
                self.frame.variables[target] = Variable(value, None)
            else:
                self._write(target, cast(value, node.type))
        elif target is not None:
            self.frame.temporaries[target] = value
        return mask

    def _write(self, name: str, value: Value) -> None:
        variables = self.frame.variables
        known = variables.get(name)
        if self.mask.count == self.lanes.alive.count:
            variables[name] = Variable(value, None)
        elif known is None:
            variables[name] = Variable(value, self.mask.active)
        else:
            defined = None if known.defined is None else known.defined | self.mask.active
            if isinstance(value, np.ndarray | np.generic) and self.mask.whole_warps:
                if isinstance(known, Reassigned) and known.mask is self.mask:
                    old = known.old
                else:
                    old = known.value
                variables[name] = Reassigned(self.mask, value, old, defined)
            else:
                merged = merge(self.mask.active, value, known.value)
                variables[name] = Variable(merged, defined)

    def store(self, node: ir.Store, mask: Mask) -> Mask:  # a[i] = value, a[i].x = value
        value = self.value(node.value)
        array, indices = self._cell(node)
        memory_access.store(self, node.site, array, indices, value)
        return mask

    def if_(self, node: ir.If, mask: Mask) -> Mask:  # if test: ... else: ...
        taken = self._where(truth(self.value(node.test)), mask)
        self.audience.branch(node.test.line, mask, taken, select=not node.branches)
        if taken is mask:
            return self.block(node.body, mask)
        if not taken:
            return self.block(node.orelse, mask)
        passed = self.block(node.body, taken)
        return passed.union(self.block(node.orelse, mask.without(taken)))

    def loop(self, node: ir.Loop, mask: Mask) -> Mask:  # while test: ... else: ..., for ...
        self.block(node.before, mask)
        most = None if node.most is None else int(self.value(node.most))
        turns = Turns(self.lanes.nobody, self.lanes.nobody)
        self.frame.loops.append(turns)
        running, finished = mask, self.lanes.nobody
        count = 0
        while running:
            if count == most:
                finished = finished.union(running)
                break
            count += 1
            self._spend(node, running, turn=True)
            self.mask = running
            taken = self._split(node.test, running)
            if taken is not running:
                finished = finished.union(running.without(taken))
            if not taken:
                break
            if node.hopeless:
                self._give_up(node, taken, hopeless=True)
            running = self.block(node.body, taken).union(turns.continued)
            turns.continued = self.lanes.nobody
            if most is None and node.waits:
                self._look_after(node, turns, running, taken)
            self.block(node.after, taken)
        self.frame.loops.pop()
        return self.block(node.orelse, finished).union(turns.broken)

    def _look_after(self, node: ir.Loop, turns: Turns, running: Mask, taken: Mask) -> None:
        """A loop that may wait for others has made a turn."""
        if self.context is None:
            watchdog.watch(self, node, turns, running, taken)
        elif running:
            self.context.turned(node, turns, running)

    def leave(self, node: ir.Leave, mask: Mask) -> Mask:  # break, continue, return
        frame = self.frame
        if node.how == "break":
            frame.loops[-1].broken = frame.loops[-1].broken.union(mask)
        elif node.how == "continue":
            frame.loops[-1].continued = frame.loops[-1].continued.union(mask)
        elif node.how == "end" or not frame.calls:
            self.returned |= mask.active
        elif node.value is not None:
            value = cast(self.value(node.value), frame.code.result)
            known = frame.result is not None
            frame.result = merge(mask.active, value, frame.result) if known else value
        return self.lanes.nobody

    # Expressions: node -> value

    def value(self, node: ir.Expression) -> Value:
        """Returns what an expression is worth."""
        return _EXPRESSIONS[type(node)](self, node)

    def constant(self, node: ir.Constant) -> Value:  # 3, 0.5, True
        return node.value

    def read(self, node: ir.Read) -> Value:  # x
        known = self.frame.variables.get(node.variable)
        if known is None:
            self._undefined(node, self.mask.lanes)
            return poison(self.frame.code.types[node.variable])
        if known.defined is not None:
            missing = self.mask.active & ~known.defined
            if np.count_nonzero(missing):
                self._undefined(node, missing.nonzero()[0])
        # Of a warp that is not whole, a shuffle may ask a lane that is not there.
        merged = self.apart or not self.mask.whole_warps
        value = known.value if merged else known.under(self.mask)
        if isinstance(node.type, np.dtype):
            return value if value.dtype is node.type else self.converted(value, node.type)
        value = self._settled(node.line, node.name, value)
        return cast(value, node.type) if isinstance(value, tuple) else value

    def _undefined(self, node: ir.Read, lanes: np.ndarray) -> None:
        threads = self.lanes.global_thread[lanes]
        facts = {"variable": node.name}
        self.fault(Fault("uninitialised-read", node.line, threads, facts), (node.name,))

    def temporary(self, node: ir.Temporary) -> Value:
        return self.frame.temporaries[node.number]

    def tuple_(self, node: ir.Tuple) -> Value:  # a, b
        return tuple([self.value(part) for part in node.parts])

    def element(self, node: ir.Element) -> Value:  # t[0], t[1:], t[k]
        owner = self.value(node.owner)
        if not isinstance(node.index, ir.Expression):
            return owner[node.index]
        index: Any = cast(memory_access.signed(self.value(node.index)), INT64)
        if not isinstance(index, np.ndarray):
            if -len(owner) <= index < len(owner):
                return owner[int(index)]
            self._outside_tuple(node, index, len(owner), self.mask.lanes)
            return owner[0]
        outside = self.mask.active & ((index < -len(owner)) | (index >= len(owner)))
        if outside.any():
            self._outside_tuple(node, index, len(owner), np.flatnonzero(outside))
        index = np.where(index < 0, index + len(owner), index)
        first, *others = np.unique(np.clip(index[self.mask.lanes], 0, len(owner) - 1)).tolist()
        found = owner[first]
        for at in others:
            found = merge(index == at, owner[at], found)
        return self._settled(node.line, node.written, found)

    def _outside_tuple(
        self, node: ir.Element, index: Value, length: int, lanes: np.ndarray
    ) -> None:
        assert isinstance(node.written, ast.Subscript)
        bad = np.broadcast_to(index, self.lanes.count)[lanes]
        facts = {
            "array": ast.unparse(node.written.value),
            "shape": (length,),
            "axis": 0,
            "index": (int(bad[0]),),
            "axis_values": (int(bad.min()), int(bad.max())),
            "access": "load",
            "names": {},
        }
        threads = self.lanes.global_thread[lanes]
        expression = ast.unparse(node.written.slice)
        fault = Fault("out-of-bounds", node.line, threads, facts, expression=expression)
        self.fault(fault, ("tuple",))

    def load(self, node: ir.Load) -> Value:  # a[i, j], a[i].x
        array, indices = self._cell(node)
        return memory_access.load(self, node.site, array, indices)

    def _cell(self, node: ir.Load | ir.Store) -> tuple[Array, tuple[Value, ...]]:
        array = self.value(node.array)
        index = self.value(node.index)
        if node.field:
            array = array.fields[node.field]
        indices = index if isinstance(index, tuple) else (index,)
        return array, tuple(
            [
                i if i.dtype is INT64 else self.converted(memory_access.signed(i), INT64)
                for i in indices
            ]
        )

    def view(self, node: ir.View) -> Value:  # a[i], a[2:], a[:, j]
        return memory_access.view(self, node, self.value(node.array))

    def unary(self, node: ir.Unary) -> Value:  # -a, ~a, not a
        return unary(node.operator, self.value(node.operand), node.type)

    def binary(self, node: ir.Binary) -> Value:  # a + b
        left, right = self.value(node.left), self.value(node.right)
        if node.counted:
            small = node.narrowed and fits_float32(left) and fits_float32(right)
            kind = "float32" if small else node.counted
            self.audience.operations(node.line, kind, self.mask.count)
        if node.fused:
            self.audience.operations(node.line, "fma", self.mask.count)
        return binary(node.operator, left, right, node.type)

    def compare(self, node: ir.Compare) -> Value:  # a < b < c
        if node.wide:
            self.audience.operations(node.line, "float64_comparison", self.mask.count)
        left = self.value(node.operands[0])
        if len(node.operators) == 1:
            return compare(node.operators[0], left, self.value(node.operands[1]))
        result: Value = None
        for operator, operand in zip(node.operators, node.operands[1:], strict=True):
            right = self.value(operand)
            one = compare(operator, left, right)
            result = one if result is None else result & one
            left = right
        return result

    def logical(self, node: ir.Logical) -> Value:  # a and b; the right side where it matters
        before = self.mask
        last = self.value(node.parts[0])
        result = cast(last, node.type)
        for part, branches in zip(node.parts[1:], node.branches[1:], strict=True):
            known = truth(last)
            asked = known if node.conjunction else np.logical_not(known)
            on = self._choose(part.line, asked, self.mask, branches=branches)
            if not on:
                break
            self.mask = on
            last = self.value(part)
            value = cast(last, node.type)
            result = value if on is before else merge(on.active, value, result)
        self.mask = before
        return result

    def select(self, node: ir.Select) -> Value:  # a if test else b
        before = self.mask
        condition = truth(self.value(node.test))
        yes = self._choose(node.line, condition, before, branches=node.branches)
        if yes is before:
            return cast(self.value(node.yes), node.type)
        if not yes:
            return cast(self.value(node.no), node.type)
        self.mask = yes
        first = cast(self.value(node.yes), node.type)
        self.mask = before.without(yes)
        second = cast(self.value(node.no), node.type)
        self.mask = before
        if not isinstance(node.type, np.dtype):
            return self._settled(node.line, node.written, merge(yes.active, first, second))
        return np.where(condition, first, second)

    def call(self, node: ir.Call) -> Value:  # cuda.grid(1), math.sqrt(x), cuda.threadIdx.x
        arguments = [self.value(a) for a in node.arguments]
        if self.context is not None and self.context.meets(node):
            return self.context.meet(node, arguments)
        return node.function.run(self, node, arguments, node.type)

    def device_call(self, node: ir.DeviceCall) -> Value:  # f(x)
        """Runs a device function with the lanes that call it; returns what it returns."""
        arguments = [self.value(a) for a in node.arguments]
        caller, mask = self.frame, self.mask
        if self.depth >= MAX_CALLS_UNDER_WAY:
            fact = f"calls are {self.depth} deep here, the simulator's limit"
            hint = "write a loop: a thread of a GPU has room for few calls inside one another, too"
            raise self.kernel.refuse(node.line, fact, hint)
        self.frame = _frame(node.code, arguments, (*caller.calls, node.line))
        self.frame.caller = self._caller(caller, node)
        self.block(node.code.body, mask)
        result = self.frame.result
        self.frame, self.mask = caller, mask
        if result is None:
            return poison(node.code.result)
        return self._settled(node.line, node.written, result)

    def _caller(self, frame: Frame, node: ir.DeviceCall) -> str:
        """The line of the kernel's own file that leads into a function of another one."""
        own = self.setting.code.kernel.file
        if node.code.kernel.file == own:
            return ""
        return frame.caller or place(own, node.line)

    def new_array(self, node: ir.NewArray) -> Value:  # cuda.shared.array(shape, dtype)
        return self.arena.array(node.number, self.setting.code.arrays[node.number], node.name)

    # What several of them need, and the vocabulary

    def operation(self, line: int, operator: str, left: Value, right: Value) -> Value:
        """Returns left op right, of numbers whose types are known only here."""
        result = types.binary(operator, left.dtype, right.dtype)
        kind = counted_as(operator, result)
        if kind:
            self.audience.operations(line, kind, self.mask.count)
        return binary(operator, left, right, result)

    def update(
        self,
        call: ir.Call,
        array: Array,
        indices: tuple[Value, ...],
        name: str,
        operands: Sequence[Value],
    ) -> Value:
        """Returns the old values of cells that are updated atomically, lane after lane."""
        assert call.site is not None
        return memory_access.update(
            self, call.site, array, indices, name, operands, returns=call.used
        )

    def fault(self, fault: Fault, key: tuple[Any, ...] = ()) -> None:
        """Reports what is wrong with the function that is executed."""
        fault.kernel, fault.caller = self.kernel, self.caller
        self.setting.faults.add(fault, key)

    def converted(self, value: Value, type_: Type) -> Value:
        """Returns a value cast to a type; a vector that has been cast before is the same vector.

        An index variable that stays as it is thus stays one object, and its pattern one pattern.
        """
        if not isinstance(value, np.ndarray) or value.dtype == type_:
            return cast(value, type_)
        known = self._converted.get(id(value))
        if known is not None and known[0] is value and known[1].dtype is type_:
            return known[1]
        if len(self._converted) >= MAX_CONVERTED:
            self._converted.clear()
        found = cast(value, type_)
        self._converted[id(value)] = value, found
        return found

    def range_of(
        self, names: Iterable[tuple[str, str]], lanes: np.ndarray
    ) -> dict[str, tuple[Any, Any]]:
        """Returns the smallest and largest value of some variables over some lanes, by name."""
        found = {}
        for name, variable in names:
            known = self.frame.variables.get(variable)
            if known is not None and isinstance(known.value, np.ndarray | np.generic):
                values = np.broadcast_to(known.value, self.lanes.count)[lanes]
                found[name] = (values.min().item(), values.max().item())
        return found

    def _split(self, test: ir.Expression, mask: Mask) -> Mask:
        """Returns the lanes of the mask whose test is true; the mask itself when all are."""
        return self._part(test.line, truth(self.value(test)), mask)

    def _part(self, line: int, condition: Value, mask: Mask) -> Mask:
        taken = self._where(condition, mask)
        self.audience.branch(line, mask, taken)
        return taken

    def _choose(self, line: int, condition: Value, mask: Mask, *, branches: bool) -> Mask:
        """A branch where an arm touches memory; where none does, a select, which is free."""
        return self._part(line, condition, mask) if branches else self._where(condition, mask)

    def _where(self, condition: Value, mask: Mask) -> Mask:
        if not isinstance(condition, np.ndarray):
            return mask if condition else self.lanes.nobody
        taken = mask & condition
        return mask if taken.count == mask.count else taken

    def _settled(self, line: int, written: ast.expr | str, value: Value) -> Value:
        """Returns a value as the lanes that are here have it: arrays must be the same for all.

        Raises:
            KernelRefused: one name, or one expression, stands for different arrays.
        """
        if not isinstance(value, Several | tuple):
            return value
        try:
            return settled(value, self.mask.lanes)
        except MixedArrays as mixed:
            one, other = mixed.args
            text = written if isinstance(written, str) else ast.unparse(written)
            fact = (
                f"{text} stands for {one} in some threads here and for {other} in "
                "others: the simulator takes one array at a time, Numba takes both"
            )
            hint = "use each array under its own name, in a branch of its own"
            raise self.kernel.refuse(line, fact, hint) from None


def _frame(code: ir.Code, arguments: Iterable[Value], calls: tuple[int, ...]) -> Frame:
    """The frame of a call that has just begun."""
    given = zip(code.parameters.items(), arguments, strict=True)
    variables = {
        name: Variable(cast(cast(value, wanted), own), None)
        for (name, (wanted, own)), value in given
    }
    return Frame(code, variables, [None] * code.temporaries, calls)


_STATEMENTS: dict[type, Callable[[Interpreter, Any, Mask], Mask]] = {
    ir.Assign: Interpreter.assign,
    ir.Store: Interpreter.store,
    ir.If: Interpreter.if_,
    ir.Loop: Interpreter.loop,
    ir.Leave: Interpreter.leave,
}
_EXPRESSIONS: dict[type, Callable[[Interpreter, Any], Value]] = {
    ir.Constant: Interpreter.constant,
    ir.Read: Interpreter.read,
    ir.Temporary: Interpreter.temporary,
    ir.Tuple: Interpreter.tuple_,
    ir.Element: Interpreter.element,
    ir.Load: Interpreter.load,
    ir.View: Interpreter.view,
    ir.Unary: Interpreter.unary,
    ir.Binary: Interpreter.binary,
    ir.Compare: Interpreter.compare,
    ir.Logical: Interpreter.logical,
    ir.Select: Interpreter.select,
    ir.Call: Interpreter.call,
    ir.DeviceCall: Interpreter.device_call,
    ir.NewArray: Interpreter.new_array,
}
