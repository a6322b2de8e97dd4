"""The value of an expression for all lanes at once: one method per kind of expression."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from gpu_course.simt import inference, intrinsics, types
from gpu_course.simt.constants import Symbol, as_dtype
from gpu_course.simt.expression_types import constant_slice
from gpu_course.simt.faults import Fault
from gpu_course.simt.inference import Inferred
from gpu_course.simt.lanes import Mask
from gpu_course.simt.machine import Machine
from gpu_course.simt.meanings import NOTHING
from gpu_course.simt.memory import Array, viewed
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import BOOL, FLOAT32, INT64, FunctionType
from gpu_course.simt.values import (
    BINARY,
    COMPARE,
    FLOAT_OPERATIONS,
    fits_float32,
    merge,
    type_of,
)
from gpu_course.simt.vocabulary.functions import Value, cast, truth
from gpu_course.simt.vocabulary.synchronise import meet_grid


class Expressions(Machine):
    """A Machine that evaluates expressions under its mask."""

    def __init__(self, *state: Any) -> None:
        super().__init__(*state)
        self._narrowed: ast.AST | None = None
        self._literals: dict[ast.AST, Value] = {}
        self._touching: dict[ast.AST, bool] = {}
        self._methods = {
            kind: getattr(self, f"of_{kind.__name__}")
            for kind in ast.expr.__subclasses__()
            if hasattr(self, f"of_{kind.__name__}")
        }

    def value(self, node: ast.expr) -> Value:
        meaning = self.program.meanings.get(node)
        if meaning is not None:
            return self.meaning(node, meaning)
        return self._methods[type(node)](node)

    def meaning(self, node: ast.expr, meaning: Any) -> Value:
        if meaning is NOTHING:
            return None
        if isinstance(meaning, Kernel):
            return FunctionType(meaning.name, meaning.place[:2], meaning)
        if isinstance(meaning, Symbol):
            return intrinsics.VALUES[meaning.path].run(self.lanes)
        if isinstance(meaning, np.ndarray):
            return self.constant_array(ast.unparse(node), meaning)
        if isinstance(meaning, tuple):
            return _numbers(meaning)
        return self.literal(node, meaning)

    def literal(self, node: ast.AST, value: Any) -> Value:
        if node not in self._literals:
            type_ = inference.of_value(value)
            assert isinstance(type_, np.dtype)
            self._literals[node] = type_.type(value)
        return self._literals[node]

    def of_Constant(self, node: ast.Constant) -> Value:  # 3, 0.5, True; a string to print
        if isinstance(node.value, str) or node.value is None:
            return node.value
        return self.literal(node, node.value)

    def of_Name(self, node: ast.Name) -> Value:  # x
        return self.read(node)

    def of_Tuple(self, node: ast.Tuple) -> Value:  # a, b
        return tuple(self.value(e) for e in node.elts)

    def of_Attribute(self, node: ast.Attribute) -> Value:  # array.shape
        if node in self.inferred.fields:
            return self.load(node.value, *self.field(node))
        array = self.value(node.value)
        if node in self.inferred.members:
            return array[self.inferred.members[node]]
        if isinstance(array, Array) and node.attr in array.fields:
            return array.fields[node.attr]
        if node.attr in ("real", "imag"):
            return np.asarray(getattr(array, node.attr))[()]
        if node.attr == "shape":
            return tuple(_whole(n) for n in array.shape)
        return _whole(array.size if node.attr == "size" else len(array.shape))

    def field(self, node: ast.Attribute) -> tuple[Array, tuple[Value, ...]]:
        """The array of a field and the index of the cell: a[i].x."""
        assert isinstance(node.value, ast.Subscript)
        array, indices = self.cell(node.value)
        return array.fields[node.attr], indices

    def of_BinOp(self, node: ast.BinOp) -> Value:  # a + b
        return self.operation(node, node.op, self.value(node.left), self.value(node.right))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:  # -a
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return np.logical_not(truth(operand))
        result = types.unary(type(node.op).__name__, operand.dtype)
        # Numba negates and inverts in the operand's own width, and widens the outcome.
        if isinstance(node.op, ast.USub):
            operand = -(operand.astype(np.int8) if operand.dtype == BOOL else operand)
        elif isinstance(node.op, ast.Invert):
            operand = ~operand
        return cast(operand, result)

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
        if left is None or right is None:
            same = left is None and right is None
            return np.bool_(same is isinstance(op, ast.Is | ast.Eq))
        if isinstance(right, tuple):
            return self.compare_tuples(op, left, right)
        if isinstance(op, ast.Is | ast.IsNot):
            if left.dtype != right.dtype:
                return np.bool_(isinstance(op, ast.IsNot))
            op = ast.Eq() if isinstance(op, ast.Is) else ast.NotEq()
        if left.dtype.kind in "fc" or right.dtype.kind in "fc":
            common = types.arithmetic(left.dtype, right.dtype)
            left, right = cast(left, common), cast(right, common)
        return COMPARE[type(op)](left, right)

    def compare_tuples(self, op: ast.cmpop, left: Value, right: tuple[Value, ...]) -> Value:
        """x in (a, b), or (a, b) < (c, d): the first place that differs decides."""
        if isinstance(op, ast.In | ast.NotIn):
            among = reduce(np.logical_or, [self.compare(ast.Eq(), left, each) for each in right])
            return among if isinstance(op, ast.In) else np.logical_not(among)
        pairs: list[tuple[Value, Value]] = list(zip(left, right, strict=False))
        equal = [self.compare(ast.Eq(), one, other) for one, other in pairs]
        if isinstance(op, ast.Eq | ast.NotEq):
            same = reduce(np.logical_and, equal, np.bool_(len(left) == len(right)))
            return same if isinstance(op, ast.Eq) else np.logical_not(same)
        found: Value = COMPARE[type(op)](np.int64(len(left)), np.int64(len(right)))
        for (one, other), same in zip(reversed(pairs), reversed(equal), strict=True):
            found = np.asarray(np.where(same, found, self.compare(op, one, other)))[()]
        return found

    def of_BoolOp(self, node: ast.BoolOp) -> Value:  # a and b; the right side only where it matters
        want = isinstance(node.op, ast.And)
        before = self.mask
        parts = [self.value(node.values[0])]
        asked = [self.mask]
        for part in node.values[1:]:
            known = truth(parts[-1])
            on = self._choose(part, known if want else np.logical_not(known), self.mask)
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
            result = part if mask is before else merge(mask.active, part, result)
        return result

    def of_IfExp(self, node: ast.IfExp) -> Value:  # a if test else b
        before = self.mask
        condition = truth(self.value(node.test))
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
        type_ = types.unify(type_of(first), type_of(second))
        first, second = cast(first, type_), cast(second, type_)
        if not isinstance(type_, np.dtype):
            return merge(yes.active, first, second)
        return np.where(condition, first, second)

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
        symbol = self.program.meanings.get(node.func)
        if node in self.requests:
            return self.arena.array(node, self.requests[node], ast.unparse(node.func))
        if node in self.inferred.calls:
            arguments = [self.value(a) for a in self.inferred.given[node]]
            return self.call_device(self.inferred.calls[node], arguments)
        if node in self.inferred.given:  # a named tuple
            return tuple(self.value(a) for a in self.inferred.given[node])
        if symbol is None:  # cuda.cg.this_grid().sync(), the only method there is
            assert isinstance(node.func, ast.Attribute)
            self.value(node.func.value)
            return meet_grid(self, node)
        arguments = [self.value(a) for a in node.args]
        dtype = as_dtype(symbol)
        if dtype is not None:
            return cast(arguments[0], dtype)
        function = intrinsics.FUNCTIONS[symbol.path]
        result = function.type([type_of(a) for a in arguments], node.args)
        return function.run(self, node, arguments, result)

    def call_device(self, inferred: Inferred, arguments: list[Value]) -> Value:
        """Runs a device function; a machine that has statements knows how."""
        raise NotImplementedError

    def of_Subscript(self, node: ast.Subscript) -> Value:  # a[i, j], or t[0] of a tuple
        owner = self.value(node.value)
        if isinstance(owner, tuple):
            if isinstance(node.slice, ast.Slice):
                return owner[constant_slice(node.slice)]
            return self.element(node, owner)
        if node in self.inferred.views:
            return self.view(node, owner)
        return self.load(node, *self.cell(node))

    def element(self, node: ast.Subscript, owner: tuple[Value, ...]) -> Value:
        index: Any = self.value(node.slice)
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
        if name in FLOAT_OPERATIONS and result.kind == "f" and result.itemsize >= 4:
            wide = result.itemsize == 8 and not self._narrows(node, left, right)
            kind = "float64" if wide else "float32"
            for observer in self.observers:
                observer.operations(node.lineno, kind, self.mask.count)  # type: ignore[attr-defined]
        if name in ("Add", "Sub") and result.kind == "f":
            self._count_fma(node, left, right, result)
        computed = BINARY[name](cast(left, result), cast(right, result))
        return cast(computed, result)

    def cell(self, node: ast.Subscript) -> tuple[Array, tuple[Value, ...]]:
        array = self.value(node.value)
        index = self.value(node.slice)
        indices = index if isinstance(index, tuple) else (index,)
        return array, tuple(self.converted(i, INT64) for i in indices)

    def view(self, node: ast.Subscript, array: Array) -> Array:
        """a[i], a[2:], a[:, j]: the same memory, seen from another cell and in another shape."""
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts: list[ast.expr | None] = [*given, *[None] * (len(array.shape) - len(given))]
        first: list[Value] = []
        shape: list[Value] = []
        steps: list[Value] = []
        for part, size in zip(parts, array.shape, strict=True):
            if part is None or isinstance(part, ast.Slice):
                start, length, step = self._span(part, size)
                shape.append(length)
                steps.append(step)
                first.append(start)
            else:
                first.append(cast(self.value(part), INT64))
                steps.append(None)
        at = tuple(
            np.int64(0) if p is None or isinstance(p, ast.Slice) else f
            for p, f in zip(parts, first, strict=True)
        )
        self.in_bounds("load", node, node.slice, array, at)
        inside = [
            np.clip(start, 0, np.maximum(np.asarray(size) - 1, 0))[()]
            for start, size in zip(first, array.shape, strict=True)
        ]
        return viewed(array, inside, shape, steps)

    def _span(self, part: ast.expr | None, size: Value) -> tuple[Value, Value, Value]:
        """First index, length and step of a slice, bounded as Python bounds it."""
        lower = upper = None
        step: Value = 1
        if isinstance(part, ast.Slice):
            lower, upper = (None if p is None else self.value(p) for p in (part.lower, part.upper))
            given = None if part.step is None else self.value(part.step)
            step = 1 if given is None else cast(given, INT64)
            step = step if isinstance(step, np.ndarray) else int(step)
        self._check_step(part, step)
        back = np.less(step, 0)
        low, high = np.where(back, -1, 0)[()], np.where(back, size - 1, size)[()]
        start = np.where(back, high, low)[()] if lower is None else _bound(lower, size, low, high)
        stop = np.where(back, low, high)[()] if upper is None else _bound(upper, size, low, high)
        return start, _whole(np.maximum(-(-(stop - start) // step), 0)), step

    def _check_step(self, part: ast.expr | None, step: Value) -> None:
        if isinstance(step, np.ndarray):
            zero = bool((step[self.mask.lanes] == 0).any())
            step[step == 0] = 1  # lanes that do not take part
        else:
            zero = step == 0
        if zero:
            assert part is not None
            fact = "a slice's step is 0 here in some thread"
            raise self.program.kernel.refuse(part, fact, "step by 1 or by -1")

    # Conditions

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

    def _count_fma(self, node: ast.AST, left: Value, right: Value, result: np.dtype[Any]) -> None:
        """A sum of which one part is a product: the compiler makes it one instruction."""
        if isinstance(node, ast.AugAssign):
            parts = [(node.value, right)]
        elif isinstance(node, ast.BinOp):
            parts = [(node.left, left), (node.right, right)]
        else:
            return
        for part, value in parts:
            product = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult)
            if product and value.dtype == result:
                for observer in self.observers:
                    observer.operations(node.lineno, "fma", self.mask.count)
                return

    # Widths

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
            and all(fits_float32(v) for v in (left, right))
        )


def _bound(value: Value, size: Value, low: Value, high: Value) -> Value:
    whole = cast(value, INT64)
    return np.clip(np.where(whole < 0, whole + size, whole)[()], low, high)


def _whole(value: Value) -> Value:
    return value if isinstance(value, np.ndarray) else np.int64(value)


def _numbers(values: tuple[Any, ...]) -> tuple[Value, ...]:
    found = []
    for value in values:
        type_ = inference.of_value(value)
        assert isinstance(type_, np.dtype)
        found.append(type_.type(value))
    return tuple(found)
