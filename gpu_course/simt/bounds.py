"""Whether the indices of an access lie inside its array, and the report where they do not."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.program import Program
from gpu_course.simt.variables import Value, Variable


class Bounds:
    """What a machine needs to tell which lanes are inside an array."""

    program: Program
    lanes: Lanes
    mask: Mask
    faults: FaultLog
    variables: dict[str, Variable]

    def in_bounds(
        self,
        kind: str,
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
    ) -> np.ndarray | None:
        """Reports what is out of bounds; the lanes that are in, or None when all active are."""
        good: np.ndarray | None = None
        sizes: tuple[Any, ...] = array.shape
        for axis, (at, size) in enumerate(zip(indices, sizes, strict=True)):
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
        at = [np.broadcast_to(i, self.lanes.count)[lanes] for i in indices]
        first = self.lanes.global_thread[lanes][:64].tolist()
        facts = {
            "array": array.name,
            "shape": tuple(int(np.broadcast_to(n, lanes.max() + 1)[lanes[0]]) for n in array.shape),
            "axis": axis,
            "index": tuple(int(a[0]) for a in at),
            "indices": {t: tuple(int(a[k]) for a in at) for k, t in enumerate(first)},
            "axis_values": (int(at[axis].min()), int(at[axis].max())),
            "access": kind,
            "names": self._names_in(_axis_index(index, axis), lanes),
            "space": array.space,
            "sizes": self._parameters_of(
                int(np.broadcast_to(array.shape[axis], lanes.max() + 1)[lanes[0]])
            ),
        }
        threads = self.lanes.global_thread[lanes]
        self.faults.add(
            Fault("out-of-bounds", node.lineno, threads, facts, node),
            (node.col_offset, axis),
        )

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


def _axis_index(index: ast.expr, axis: int) -> ast.expr:
    return index.elts[axis] if isinstance(index, ast.Tuple) else index
