"""Operators and comparisons on the values of all lanes, counted by their width."""

from __future__ import annotations

import ast
from functools import reduce
from typing import Any

import numpy as np

from gpu_course.simt import types
from gpu_course.simt.machine import Machine
from gpu_course.simt.values import BINARY, COMPARE, FLOAT_OPERATIONS, fits_float32
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.functions import cast


class Arithmetic(Machine):
    """A Machine that knows the operators."""

    def __init__(self, *state: Any) -> None:
        super().__init__(*state)
        self._narrowed: ast.AST | None = None

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
