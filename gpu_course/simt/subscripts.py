"""Cells, fields and views: what `a[i]`, `a[i].x` and `a[2:]` stand for in every lane."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gpu_course.simt.arithmetic import Arithmetic
from gpu_course.simt.faults import Fault
from gpu_course.simt.memory import Array, viewed
from gpu_course.simt.types import INT64, UINT64
from gpu_course.simt.values import merge
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.functions import cast


class Subscripts(Arithmetic):
    """A machine that finds the cell or the part of an array that a subscript means."""

    def value(self, node: ast.expr) -> Value:
        """Returns the value of an expression; a machine with expressions knows how."""
        raise NotImplementedError

    def cell(self, node: ast.Subscript) -> tuple[Array, tuple[Value, ...]]:
        array = self.value(node.value)
        index = self.value(node.slice)
        indices = index if isinstance(index, tuple) else (index,)
        return array, tuple(self.converted(_signed(i), INT64) for i in indices)

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
                first.append(cast(_signed(self.value(part)), INT64))
                steps.append(None)
        numbers = [axis for axis, step in enumerate(steps) if step is None]
        at = tuple(f if k in numbers else np.int64(0) for k, f in enumerate(first))
        counted = self.from_start(array, at)
        if counted is not at:
            self.advise_from_end(node, node.slice, array, at)
        self.in_bounds("load", node, node.slice, array, counted, numbers)
        for axis in numbers:
            first[axis] = counted[axis]
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
        step = self._usable_step(part, step)
        back = np.less(step, 0)
        low, high = np.where(back, -1, 0)[()], np.where(back, size - 1, size)[()]
        start = np.where(back, high, low)[()] if lower is None else _bound(lower, size, low, high)
        stop = np.where(back, low, high)[()] if upper is None else _bound(upper, size, low, high)
        return start, whole(np.maximum(-(-(stop - start) // step), 0)), step

    def _usable_step(self, part: ast.expr | None, step: Value) -> Value:
        """Returns a slice's step, 1 in the lanes that do not take part and have none."""
        zero = np.equal(step, 0)
        if not zero.any():
            return step
        if not isinstance(step, np.ndarray) or zero[self.mask.lanes].any():
            assert part is not None
            fact = "a slice's step is 0 here in some thread"
            raise self.program.kernel.refuse(part, fact, "step by 1 or by -1")
        return np.where(zero, 1, step)

    def field(self, node: ast.Attribute) -> tuple[Array, tuple[Value, ...]]:
        """The array of a field and the index of the cell: a[i].x."""
        assert isinstance(node.value, ast.Subscript)
        array, indices = self.cell(node.value)
        return array.fields[node.attr], indices

    def element(self, node: ast.Subscript, owner: tuple[Value, ...]) -> Value:
        index: Any = cast(_signed(self.value(node.slice)), INT64)
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
        for place in others:
            found = merge(index == place, owner[place], found)
        return self.settled(node, found)

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


def _signed(index: Value) -> Value:
    """An index that int64 can hold: one beyond it is outside of any array, and not negative."""
    if index.dtype != UINT64:
        return index
    return np.minimum(index, np.uint64(np.iinfo(np.int64).max))


def _bound(value: Value, size: Value, low: Value, high: Value) -> Value:
    whole = cast(value, INT64)
    return np.clip(np.where(whole < 0, whole + size, whole)[()], low, high)


def whole(value: Value) -> Value:
    """Returns a count as a value: int64, or one per lane as it is."""
    return value if isinstance(value, np.ndarray) else np.int64(value)
