"""Runs one batch of blocks in lockstep: one method per Python construct, the mask explicit.

A value is a NumPy scalar while every lane agrees on it, and a vector with one entry per lane once
they differ. A statement takes the mask of the lanes that reach it and returns the mask of those
that go on to the next one; `break`, `continue` and `return` take lanes out on the way.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt import inference, intrinsics, types
from gpu_course.simt.constants import Symbol, as_dtype
from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.intrinsics import Value, cast
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.legality import Program
from gpu_course.simt.memory import Access, Array
from gpu_course.simt.types import BOOL, FLOAT32, INT64, Type

if TYPE_CHECKING:
    from gpu_course.simt.launch import Observer


class EndlessLoop(Exception):
    """A loop that cannot end, or a batch that has spent its steps."""

    def __init__(self, line: int, threads: np.ndarray, facts: dict[str, Any]) -> None:
        self.line = line
        self.threads = threads
        self.facts = facts
        super().__init__(line)


@dataclass
class _Variable:
    """A local variable: its value, and the lanes that have assigned it (None: all of them)."""

    value: Value
    defined: np.ndarray | None


@dataclass
class _Loop:
    """The lanes that left the innermost loop, or skipped the rest of an iteration."""

    broken: Mask
    continued: Mask


def _floor_divide(a: Value, b: Value) -> Value:
    return np.floor_divide(a, b)


def _power(a: Value, b: Value) -> Value:
    if np.asarray(b).dtype.kind == "f" or not np.any(np.asarray(b) < 0):
        return np.power(a, b)
    # 1 / a ** -b truncates to 0 unless a is 1 or -1.
    tiny = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, tiny, np.power(a, np.maximum(b, 0)))


_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": _floor_divide, "Mod": np.remainder, "Pow": _power,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "LShift": np.left_shift, "RShift": np.right_shift,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_FLOAT_OPERATIONS = frozenset(("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow"))


class Interpreter:
    """One batch of blocks and what its lanes hold.

    Args:
        program: the kernel past the static pass.
        variable_types: the type of each variable.
        arguments: parameter name -> Array or NumPy scalar.
        lanes: the batch.
        observers: told of every access, branch and operation.
        faults: what goes wrong.
        step_budget: statements this batch may execute.
    """

    def __init__(
        self,
        program: Program,
        variable_types: Mapping[str, Type],
        arguments: Mapping[str, Any],
        lanes: Lanes,
        observers: Sequence[Observer],
        faults: FaultLog,
        step_budget: int,
    ) -> None:
        self.program = program
        self.types = variable_types
        self.lanes = lanes
        self.observers = observers
        self.faults = faults
        self.steps_left = step_budget
        self.mask = lanes.alive
        self.loops: list[_Loop] = []
        self.variables = {
            name: _Variable(v if isinstance(v, Array) else cast(v, variable_types[name]), None)
            for name, v in arguments.items()
        }
        self._narrowed: ast.AST | None = None
        self._literals: dict[ast.AST, Value] = {}
        self._touching: dict[ast.AST, bool] = {}

    def run(self) -> None:
        """Runs the kernel's body with every thread of the batch."""
        self.block(self.program.kernel.tree.body, self.lanes.alive)

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
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)
        return mask

    def do_Assign(self, node: ast.Assign, mask: Mask) -> Mask:  # target = ... = value
        self._narrowed = node.value if self._stores_float32(node.targets) else None
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)
        return mask

    def do_AnnAssign(self, node: ast.AnnAssign, mask: Mask) -> Mask:  # target: type = value
        if node.value is not None:
            self.assign(node.target, self.value(node.value))
        return mask

    def do_AugAssign(self, node: ast.AugAssign, mask: Mask) -> Mask:  # target += value
        if isinstance(node.target, ast.Subscript):
            array, indices = self.cell(node.target)
            old = self.load(node.target, array, indices)
            self._narrowed = node if array.dtype == FLOAT32 else None
            new = self.operation(node, node.op, old, self.value(node.value))
            self.store(node.target, array, indices, new)
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
        loop = _Loop(self.lanes.nobody, self.lanes.nobody)
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
        self.loops.pop()
        return self.block(node.orelse, finished).union(loop.broken)

    def do_For(self, node: ast.For, mask: Mask) -> Mask:  # for i in range(...): ... else: ...
        assert isinstance(node.target, ast.Name)
        start, stop, step = self.value(node.iter)
        loop = _Loop(self.lanes.nobody, self.lanes.nobody)
        self.loops.append(loop)
        running, finished = mask, self.lanes.nobody
        counter = start
        while running:
            self._spend(node, running)
            more = np.where(step > 0, counter < stop, counter > stop)
            condition = more if more.ndim else more[()]
            taken = self.part(node.lineno, condition, running)
            if taken is not running:
                finished = finished.union(running.without(taken))
            if not taken:
                break
            self.mask = taken
            self.assign(node.target, counter)
            running = self.block(node.body, taken).union(loop.continued)
            loop.continued = self.lanes.nobody
            counter = counter + step
        self.loops.pop()
        return self.block(node.orelse, finished).union(loop.broken)

    def do_Break(self, node: ast.Break, mask: Mask) -> Mask:  # break
        self.loops[-1].broken = self.loops[-1].broken.union(mask)
        return self.lanes.nobody

    def do_Continue(self, node: ast.Continue, mask: Mask) -> Mask:  # continue
        self.loops[-1].continued = self.loops[-1].continued.union(mask)
        return self.lanes.nobody

    def do_Return(self, node: ast.Return, mask: Mask) -> Mask:  # return
        return self.lanes.nobody

    # Conditions

    def split(self, test: ast.expr, mask: Mask) -> Mask:
        """Returns the lanes of the mask whose test is true; the mask itself when all are."""
        return self.part(test.lineno, _truth(self.value(test)), mask)

    def part(self, line: int, condition: Value, mask: Mask) -> Mask:
        if not isinstance(condition, np.ndarray):
            taken = mask if condition else self.lanes.nobody
        else:
            taken = mask & condition
            if taken.count == mask.count:
                taken = mask
        for observer in self.observers:
            observer.branch(line, mask, taken)
        return taken

    # Variables

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            for part, element in zip(target.elts, value, strict=True):
                self.assign(part, element)
        elif isinstance(target, ast.Subscript):
            array, indices = self.cell(target)
            self.store(target, array, indices, value)
        else:
            assert isinstance(target, ast.Name)
            self.write(target.id, cast(value, self.types[target.id]))

    def write(self, name: str, value: Value) -> None:
        known = self.variables.get(name)
        if self.mask.count == self.lanes.alive.count:
            self.variables[name] = _Variable(value, None)
        elif known is None:
            self.variables[name] = _Variable(value, self.mask.active)
        else:
            defined = None if known.defined is None else known.defined | self.mask.active
            merged = _merge(self.mask.active, value, known.value)
            self.variables[name] = _Variable(merged, defined)

    def read(self, node: ast.Name) -> Value:
        known = self.variables.get(node.id)
        if known is None:
            self._undefined(node, self.mask.lanes)
            type_ = self.types[node.id]
            return _poison(type_)
        if known.defined is not None:
            missing = self.mask.active & ~known.defined
            if missing.any():
                self._undefined(node, np.flatnonzero(missing))
        return known.value

    def _undefined(self, node: ast.Name, lanes: np.ndarray) -> None:
        threads = self.lanes.global_thread[lanes]
        facts = {"variable": node.id}
        self.faults.add(Fault("uninitialised-read", node.lineno, threads, facts, node), (node.id,))

    # Expressions: node -> value

    def value(self, node: ast.expr) -> Value:
        meaning = self.program.meanings.get(node)
        if meaning is not None:
            return self.meaning(node, meaning)
        return getattr(self, "of_" + type(node).__name__)(node)

    def meaning(self, node: ast.expr, meaning: Any) -> Value:
        if isinstance(meaning, Symbol):
            return intrinsics.VALUES[meaning.path].run(self.lanes)
        return self.literal(node, meaning)

    def literal(self, node: ast.AST, value: Any) -> Value:
        if node not in self._literals:
            type_ = inference.of_value(value)
            assert isinstance(type_, np.dtype)
            self._literals[node] = type_.type(value)
        return self._literals[node]

    def of_Constant(self, node: ast.Constant) -> Value:  # 3, 0.5, True
        return self.literal(node, node.value)

    def of_Name(self, node: ast.Name) -> Value:  # x
        return self.read(node)

    def of_Tuple(self, node: ast.Tuple) -> Value:  # a, b
        return tuple(self.value(e) for e in node.elts)

    def of_Attribute(self, node: ast.Attribute) -> Value:  # array.shape
        array = self.value(node.value)
        if node.attr == "shape":
            return tuple(np.int64(n) for n in array.shape)
        return np.int64(array.data.size if node.attr == "size" else array.data.ndim)

    def of_BinOp(self, node: ast.BinOp) -> Value:  # a + b
        return self.operation(node, node.op, self.value(node.left), self.value(node.right))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:  # -a
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return np.logical_not(_truth(operand))
        result = types.unary(type(node.op).__name__, operand.dtype)
        operand = cast(operand, result)
        if isinstance(node.op, ast.USub):
            return -operand
        return ~operand if isinstance(node.op, ast.Invert) else operand

    def of_Compare(self, node: ast.Compare) -> Value:  # a < b < c
        left = self.value(node.left)
        result: Value = None
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            one = self.compare(op, left, right)
            result = one if result is None else result & one
            left = right
        return result

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        if left.dtype.kind == "f" or right.dtype.kind == "f":
            common = types.arithmetic(left.dtype, right.dtype)
            left, right = cast(left, common), cast(right, common)
        return _COMPARE[type(op)](left, right)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:  # a and b; the right side only where it matters
        want = isinstance(node.op, ast.And)
        before = self.mask
        parts = [self.value(node.values[0])]
        asked = [self.mask]
        for part in node.values[1:]:
            truth = _truth(parts[-1])
            on = self._choose(part, truth if want else np.logical_not(truth), self.mask)
            if not on:
                break
            self.mask = on
            parts.append(self.value(part))
            asked.append(on)
        self.mask = before
        result = parts[0]
        type_ = result.dtype
        for part in parts[1:]:
            type_ = types.unify(type_, part.dtype)
        result = cast(result, type_)
        for part, mask in zip(parts[1:], asked[1:], strict=True):
            part = cast(part, type_)
            result = part if mask is before else _merge(mask.active, part, result)
        return result

    def of_IfExp(self, node: ast.IfExp) -> Value:  # a if test else b
        before = self.mask
        condition = _truth(self.value(node.test))
        yes = self._choose(node, condition, before)
        if yes is before:
            return self.value(node.body)
        if not yes:
            return self.value(node.orelse)
        self.mask = yes
        first = self.value(node.body)
        self.mask = before.without(yes)
        second = self.value(node.orelse)
        self.mask = before
        type_ = types.unify(first.dtype, second.dtype)
        return np.where(condition, cast(first, type_), cast(second, type_))

    def _choose(self, node: ast.expr, condition: Value, mask: Mask) -> Mask:
        """A branch where an arm touches memory; where none does, a select, which is free."""
        if node not in self._touching:
            self._touching[node] = any(isinstance(n, ast.Subscript) for n in ast.walk(node))
        if self._touching[node]:
            return self.part(node.lineno, condition, mask)
        if not isinstance(condition, np.ndarray):
            return mask if condition else self.lanes.nobody
        taken = mask & condition
        return mask if taken.count == mask.count else taken

    def of_Call(self, node: ast.Call) -> Value:  # cuda.grid(1), math.sqrt(x), float32(x)
        symbol = self.program.meanings[node.func]
        arguments = [self.value(a) for a in node.args]
        dtype = as_dtype(symbol)
        if dtype is not None:
            return cast(arguments[0], dtype)
        function = intrinsics.FUNCTIONS[symbol.path]
        result = function.type([_type_of(a) for a in arguments], node.args)
        return function.run(self.lanes, arguments, result)

    def of_Subscript(self, node: ast.Subscript) -> Value:  # a[i, j], or t[0] of a tuple
        owner = self.value(node.value)
        if isinstance(owner, tuple):
            return self.element(node, owner)
        return self.load(node, *self.cell(node))

    def element(self, node: ast.Subscript, owner: tuple[Value, ...]) -> Value:
        index = self.value(node.slice)
        if not isinstance(index, np.ndarray):
            if -len(owner) <= index < len(owner):
                return owner[int(index)]
            self._outside_tuple(node, index, len(owner), self.mask.lanes)
            return owner[0]
        outside = self.mask.active & ((index < 0) | (index >= len(owner)))
        if outside.any():
            self._outside_tuple(node, index, len(owner), np.flatnonzero(outside))
        stacked = np.stack([np.broadcast_to(v, self.lanes.count) for v in owner])
        return stacked[np.clip(index, 0, len(owner) - 1), np.arange(self.lanes.count)]

    def _outside_tuple(
        self, node: ast.Subscript, index: Value, length: int, lanes: np.ndarray
    ) -> None:
        bad = np.broadcast_to(index, self.lanes.count)[lanes]
        facts = {
            "array": ast.unparse(node.value),
            "shape": (length,),
            "axis": 0,
            "index": (int(bad[0]),),
            "axis_values": (int(bad.min()), int(bad.max())),
            "access": "load",
            "names": {},
        }
        threads = self.lanes.global_thread[lanes]
        self.faults.add(Fault("out-of-bounds", node.lineno, threads, facts, node), ("tuple",))

    def operation(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        name = type(op).__name__
        if isinstance(left, tuple):
            return left + right
        result = types.binary(name, left.dtype, right.dtype)
        assert isinstance(result, np.dtype)
        if name in _FLOAT_OPERATIONS and result.kind == "f":
            wide = result.itemsize == 8 and not self._narrows(node, left, right)
            kind = "float64" if wide else "float32"
            for observer in self.observers:
                observer.operations(node.lineno, kind, self.mask.count)  # type: ignore[attr-defined]
        computed = _BINARY[name](cast(left, result), cast(right, result))
        return cast(computed, result)

    def _stores_float32(self, targets: Sequence[ast.expr]) -> bool:
        owners = [self.value(t.value) for t in targets if isinstance(t, ast.Subscript)]
        return len(owners) == len(targets) and all(o.dtype == FLOAT32 for o in owners)

    def _narrows(self, node: ast.AST, left: Value, right: Value) -> bool:
        """True where the compiler does a float64 operation in float32, bit for bit the same.

        One + - * / of widened float32 values that goes straight to a float32 store.
        """
        op = getattr(node, "op", None)
        return (
            node is self._narrowed
            and isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div)
            and all(_fits_float32(v) for v in (left, right))
        )

    # Memory

    def cell(self, node: ast.Subscript) -> tuple[Array, tuple[Value, ...]]:
        array = self.value(node.value)
        index = self.value(node.slice)
        indices = index if isinstance(index, tuple) else (index,)
        return array, tuple(cast(i, INT64) for i in indices)

    def load(self, node: ast.Subscript, array: Array, indices: tuple[Value, ...]) -> Value:
        access, uniform = self._access("load", node, array, indices)
        if access is None:
            return array.dtype.type(0)
        if uniform:
            return array.flat[access.elements[0]]
        loaded = array.flat[access.elements]
        if access.mask.full:
            return loaded
        result = np.zeros(self.lanes.count, array.dtype)
        result[access.mask.lanes] = loaded
        return result

    def store(
        self, node: ast.Subscript, array: Array, indices: tuple[Value, ...], value: Value
    ) -> None:
        value = cast(value, array.dtype)
        access, _ = self._access("store", node, array, indices, value)
        if access is not None:
            array.flat[access.elements] = access.values

    def _access(
        self,
        kind: str,
        node: ast.Subscript,
        array: Array,
        indices: tuple[Value, ...],
        value: Value = None,
    ) -> tuple[Access | None, bool]:
        """Checks the bounds, tells the observers; (None, ...) when no lane is in bounds."""
        mask = self.mask
        good = self._in_bounds(kind, node, array, indices)
        if good is not None:
            mask = mask & good
            if not mask:
                return None, False
        uniform = not any(isinstance(i, np.ndarray) for i in indices)
        picked = [_pick(i, mask) for i in indices]
        cells = _ravel(picked, _row_major(array.shape))
        elements = cells
        if not array.contiguous:
            elements = _ravel(picked, array.strides) + array.origin
        if uniform:
            cells = np.full(mask.count, cells)
            elements = np.full(mask.count, elements)
        threads = self.lanes.global_thread
        threads = threads if mask.full else threads[mask.lanes]
        values = None if value is None else _pick(value, mask)
        access = Access(kind, array, mask, elements, cells, threads, node.lineno, values)
        for observer in self.observers:
            observer.access(access)
        return access, uniform and good is None

    def _in_bounds(
        self, kind: str, node: ast.Subscript, array: Array, indices: tuple[Value, ...]
    ) -> np.ndarray | None:
        """Reports what is out of bounds; the lanes that are in, or None when all active are."""
        good: np.ndarray | None = None
        for axis, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
            if not isinstance(index, np.ndarray):
                if 0 <= index < size:
                    continue
                inside = np.zeros(self.lanes.count, bool)
            else:
                # Seen as unsigned, a negative index is larger than any size.
                inside = index.view(np.uint64) < np.uint64(size)
            bad = self.mask.active & ~inside
            if not bad.any():
                continue
            if good is not None:
                bad &= good
            good = inside if good is None else good & inside
            lanes = np.flatnonzero(bad)
            if lanes.size:
                self._out_of_bounds(kind, node, array, indices, axis, lanes)
        return good

    def _out_of_bounds(
        self,
        kind: str,
        node: ast.Subscript,
        array: Array,
        indices: tuple[Value, ...],
        axis: int,
        lanes: np.ndarray,
    ) -> None:
        at = [np.broadcast_to(i, self.lanes.count)[lanes] for i in indices]
        facts = {
            "array": array.name,
            "shape": array.shape,
            "axis": axis,
            "index": tuple(int(a[0]) for a in at),
            "axis_values": (int(at[axis].min()), int(at[axis].max())),
            "access": kind,
            "names": self._names_in(_axis_index(node.slice, axis), lanes),
        }
        threads = self.lanes.global_thread[lanes]
        self.faults.add(
            Fault("out-of-bounds", node.lineno, threads, facts, node), (node.col_offset, axis)
        )

    def _names_in(self, node: ast.expr, lanes: np.ndarray) -> dict[str, tuple[Any, Any]]:
        """The smallest and largest value over some lanes of each variable in an expression."""
        found = {}
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            known = self.variables.get(name)
            if known is not None and isinstance(known.value, np.ndarray | np.generic):
                values = np.broadcast_to(known.value, self.lanes.count)[lanes]
                found[name] = (values.min().item(), values.max().item())
        return found

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

    def _stop(self, node: ast.stmt, mask: Mask, *, hopeless: bool = False) -> None:
        test = node.test if isinstance(node, ast.While) else None
        facts = {
            "hopeless": hopeless,
            "test": ast.unparse(test) if test is not None else "",
            "names": self._names_in(test, mask.lanes) if test is not None else {},
        }
        raise EndlessLoop(node.lineno, self.lanes.global_thread[mask.lanes], facts)


def _axis_index(index: ast.expr, axis: int) -> ast.expr:
    return index.elts[axis] if isinstance(index, ast.Tuple) else index


def _fits_float32(value: Value) -> bool:
    """True for float32 lanes, and for a constant that float32 holds exactly."""
    if isinstance(value, np.ndarray):
        return value.dtype == FLOAT32
    return bool(value.dtype == FLOAT32 or np.float32(value) == value)


def _truth(value: Value) -> Value:
    return value if value.dtype == BOOL else value != 0


def _type_of(value: Value) -> Type:
    if isinstance(value, Array):
        return types.ArrayType(value.dtype, value.data.ndim)
    if isinstance(value, tuple):
        return types.TupleType(tuple(map(_type_of, value)))
    return value.dtype  # type: ignore[no-any-return]


def _merge(active: np.ndarray, new: Value, old: Value) -> Value:
    if isinstance(new, tuple):
        return tuple(_merge(active, n, o) for n, o in zip(new, old, strict=True))
    if isinstance(new, Array):
        return new
    return np.where(active, new, old)


def _poison(type_: Type) -> Value:
    if isinstance(type_, types.TupleType):
        return tuple(_poison(t) for t in type_.elements)
    assert isinstance(type_, np.dtype)
    return type_.type(0)


def _pick(value: Value, mask: Mask) -> Value:
    if not isinstance(value, np.ndarray) or mask.full:
        return value
    return value[mask.lanes]


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


def _ravel(indices: Sequence[Value], strides: tuple[int, ...]) -> Value:
    total = None
    for index, stride in zip(indices, strides, strict=True):
        part = index if stride == 1 else index * stride
        total = part if total is None else total + part
    return total
