"""The value of an expression for all lanes at once: one method per kind of expression."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.simt import inference, intrinsics, types
from gpu_course.simt.constants import Symbol, as_dtype
from gpu_course.simt.expression_types import constant_slice
from gpu_course.simt.inferred import Inferred
from gpu_course.simt.lanes import Mask
from gpu_course.simt.meanings import NOTHING
from gpu_course.simt.memory import Array
from gpu_course.simt.source import Kernel
from gpu_course.simt.subscripts import Subscripts, whole
from gpu_course.simt.types import BOOL, FLOAT32, ArrayType, FunctionType
from gpu_course.simt.values import merge, type_of
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.functions import cast, truth
from gpu_course.simt.vocabulary.synchronise import meet_grid


class Expressions(Subscripts):
    """A Machine that evaluates expressions under its mask."""

    def __init__(self, *state: Any) -> None:
        super().__init__(*state)
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
        if isinstance(meaning, np.ndarray | tuple):
            return self.constant(ast.unparse(node), meaning)
        return self.literal(node, meaning)

    def constant(self, name: str, value: Any) -> Value:
        """A constant of the kernel's file: a number, an array, or tuples of them to any depth."""
        if isinstance(value, tuple):
            return tuple(self.constant(f"{name}[{k}]", part) for k, part in enumerate(value))
        if isinstance(value, np.ndarray):
            return self.constant_array(name, value)
        type_ = inference.of_value(value)
        return type_.type(value) if isinstance(type_, np.dtype) else None

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
            return tuple(whole(n) for n in array.shape)
        return whole(array.size if node.attr == "size" else len(array.shape))

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
            return self.settled(node, merge(yes.active, first, second))
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
            return self.settled(node, self.call_device(self.inferred.calls[node], arguments))
        if node in self.inferred.given:  # a named tuple
            return tuple(self.value(a) for a in self.inferred.given[node])
        if symbol is None:  # z.conjugate(), or cuda.cg.this_grid().sync()
            assert isinstance(node.func, ast.Attribute)
            owner = self.value(node.func.value)
            return np.conjugate(owner) if node.func.attr == "conjugate" else meet_grid(self, node)
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

    # Widths

    def _stores_float32(self, targets: Sequence[ast.expr]) -> bool:
        return all(isinstance(t, ast.Subscript) and self._is_float32(t.value) for t in targets)

    def _is_float32(self, owner: ast.expr) -> bool:
        # By its type alone: where x is computed, the array it is stored to later may not be there.
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        found = self.inferred.reads.get(owner)
        return isinstance(found, ArrayType) and found.dtype == FLOAT32
