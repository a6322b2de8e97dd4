"""Whether the indices of an access lie inside its array, and the report where they do not."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

import numpy as np

from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.policy import Policy
from gpu_course.simt.program import Program
from gpu_course.simt.variables import Value, Variable


class Bounds:
    """What a machine needs to tell which lanes are inside an array."""

    program: Program
    lanes: Lanes
    mask: Mask
    faults: FaultLog
    policy: Policy
    variables: dict[str, Variable]

    # Indices from the end, where the policy takes them as Numba does

    def numbers_from_start(
        self, node: ast.expr, index: ast.expr, array: Array, indices: tuple[Value, ...]
    ) -> tuple[Value, ...]:
        """Returns the indices, those counted from the start that all lanes have in common."""
        if not self.policy.wrap_negative:
            return indices
        found = list(indices)
        for axis, (at, size) in enumerate(zip(indices, array.shape, strict=True)):
            vectors = isinstance(at, np.ndarray) or isinstance(size, np.ndarray)
            if not vectors and -size <= at < 0:
                found[axis] = at + size
                self._from_end(node, index, array, indices, axis, self.mask.lanes)
        return tuple(found)

    def from_start(self, array: Array, indices: tuple[Value, ...]) -> tuple[Value, ...]:
        """Returns the indices, all of them counted from the start; the same tuple if they were."""
        if not self.policy.wrap_negative:
            return indices
        pairs = zip(indices, array.shape, strict=True)
        found = tuple(_from_start(at, size) for at, size in pairs)
        same = all(new is old for new, old in zip(found, indices, strict=True))
        return indices if same else found

    def advise_from_end(
        self, node: ast.expr, index: ast.expr, array: Array, indices: tuple[Value, ...]
    ) -> None:
        """Reports the lanes whose index counts from the end: legal, and often a mistake."""
        for axis, (at, size) in enumerate(zip(indices, array.shape, strict=True)):
            lanes = np.flatnonzero(self.mask.active & (at < 0) & (at >= -size))
            if lanes.size:
                self._from_end(node, index, array, indices, axis, lanes)

    def _from_end(
        self,
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
        axis: int,
        lanes: np.ndarray,
    ) -> None:
        facts = {**self._facts(index, array, indices, axis, lanes), "from_end": True}
        threads = self.lanes.global_thread[lanes]
        fault = Fault("out-of-bounds", node.lineno, threads, facts, node, severity="advice")
        self.faults.add(fault, ("from the end",))

    # Indices outside

    def in_bounds(
        self,
        kind: str,
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
        axes: Collection[int] | None = None,
    ) -> np.ndarray | None:
        """Reports what is out of bounds; the lanes that are in, or None when all active are.

        Args:
            kind: "load", "store" or "atomic".
            node: the expression.
            index: the part of it between the brackets.
            array: what it indexes.
            indices: one per axis, counted from the start where the policy says so.
            axes: those to look at; None for all.
        """
        good: np.ndarray | None = None
        sizes: tuple[Any, ...] = array.shape
        for axis, (at, size) in enumerate(zip(indices, sizes, strict=True)):
            if axes is not None and axis not in axes:
                continue
            if not isinstance(at, np.ndarray):
                if not isinstance(size, np.ndarray):
                    if 0 <= at < size:
                        continue
                    inside = np.zeros(self.lanes.count, bool)
                else:
                    inside = (at >= 0) & (at < size)
            else:
                # Seen as unsigned, a negative index is larger than any size.
                inside = at.view(np.uint64) < np.asarray(size, np.uint64)
            bad = self.mask.active & ~inside
            if not bad.any():
                continue
            if good is not None:
                bad &= good
            good = inside if good is None else good & inside
            lanes = np.flatnonzero(bad)
            if lanes.size:
                self._out_of_bounds(kind, node, index, array, indices, axis, lanes)
        return good

    def _out_of_bounds(
        self,
        kind: str,
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
        axis: int,
        lanes: np.ndarray,
    ) -> None:
        facts = {
            **self._facts(index, array, indices, axis, lanes),
            "access": kind,
            "space": array.space,
            "sizes": self._parameters_of(
                int(np.broadcast_to(array.shape[axis], self.lanes.count)[lanes[0]])
            ),
        }
        threads = self.lanes.global_thread[lanes]
        self.faults.add(
            Fault("out-of-bounds", node.lineno, threads, facts, node),
            (node.col_offset, axis),
        )

    def _facts(
        self,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
        axis: int,
        lanes: np.ndarray,
    ) -> dict[str, Any]:
        """What there is to say of an index along one axis, over the lanes that have it."""
        at = [np.broadcast_to(i, self.lanes.count)[lanes] for i in indices]
        first = self.lanes.global_thread[lanes][:64].tolist()
        return {
            "array": array.name,
            "shape": tuple(
                int(np.broadcast_to(n, self.lanes.count)[lanes[0]]) for n in array.shape
            ),
            "axis": axis,
            "index": tuple(int(a[0]) for a in at),
            "indices": {t: tuple(int(a[k]) for a in at) for k, t in enumerate(first)},
            "axis_values": (int(at[axis].min()), int(at[axis].max())),
            "names": self._names_in(_axis_index(index, axis), lanes),
        }

    def _names_in(self, node: ast.expr, lanes: np.ndarray) -> dict[str, tuple[Any, Any]]:
        """The smallest and largest value over some lanes of each variable in an expression."""
        found = {}
        for name in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
            known = self.variables.get(self.program.read(name))
            if known is not None and isinstance(known.value, np.ndarray | np.generic):
                values = np.broadcast_to(known.value, self.lanes.count)[lanes]
                found[name.id] = (values.min().item(), values.max().item())
        return found

    def _parameters_of(self, size: int) -> tuple[str, ...]:
        """The parameters of the function that are whole numbers, and this one for all lanes."""
        found: dict[str, None] = {}
        for version, known in self.variables.items():
            name, value = version.partition("#")[0], known.value
            if isinstance(value, np.integer) and value == size:
                found[name] = None
        return tuple(name for name in self.program.kernel.parameters if name in found)


def _from_start(at: Value, size: Value) -> Value:
    """An index from -size to -1 as Numba counts it, from the end; any other stays what it is."""
    negative = at < 0
    if not np.any(negative):
        return at
    return np.where(negative & (at >= -size), at + size, at)[()]


def _axis_index(index: ast.expr, axis: int) -> ast.expr:
    return index.elts[axis] if isinstance(index, ast.Tuple) else index
