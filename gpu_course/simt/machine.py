"""What the lanes of a batch hold: their variables, and every load and store they make."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.allocate import Arena
from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.functions import Value, cast
from gpu_course.simt.lanes import Lanes
from gpu_course.simt.legality import Program
from gpu_course.simt.memory import Access, Array, row_major
from gpu_course.simt.values import merge, pick, poison, ravel

if TYPE_CHECKING:
    from gpu_course.simt.inference import Inferred
    from gpu_course.simt.launch import Observer


@dataclass
class Variable:
    """A local variable: its value, and the lanes that have assigned it (None: all of them)."""

    value: Value
    defined: np.ndarray | None


class Machine:
    """One batch of blocks and what its lanes hold: variables and memory.

    Args:
        program: the kernel past the static pass.
        inferred: the types of its variables, and the arrays it makes for itself.
        arguments: parameter name -> Array or NumPy scalar.
        lanes: the batch.
        observers: told of every access, branch and operation.
        faults: what goes wrong.
        step_budget: statements this batch may execute.
        dynamic_bytes: dynamic shared memory of a block.
    """

    def __init__(
        self,
        program: Program,
        inferred: Inferred,
        arguments: Mapping[str, Any],
        lanes: Lanes,
        observers: Sequence[Observer],
        faults: FaultLog,
        step_budget: int,
        dynamic_bytes: int = 0,
    ) -> None:
        self.program = program
        self.inferred = inferred
        self.types = inferred.types
        self.lanes = lanes
        self.observers = observers
        self.faults = faults
        self.steps_left = step_budget
        self.mask = lanes.alive
        self.returned = np.zeros(lanes.count, bool)
        self.arena = Arena(lanes, dynamic_bytes)
        self.variables = {
            name: Variable(v if isinstance(v, Array) else cast(v, self.types[name]), None)
            for name, v in arguments.items()
        }

    # Variables

    def write(self, name: str, value: Value) -> None:
        known = self.variables.get(name)
        if self.mask.count == self.lanes.alive.count:
            self.variables[name] = Variable(value, None)
        elif known is None:
            self.variables[name] = Variable(value, self.mask.active)
        else:
            defined = None if known.defined is None else known.defined | self.mask.active
            merged = merge(self.mask.active, value, known.value)
            self.variables[name] = Variable(merged, defined)

    def read(self, node: ast.Name) -> Value:
        known = self.variables.get(node.id)
        if known is None:
            self._undefined(node, self.mask.lanes)
            type_ = self.types[node.id]
            return poison(type_)
        if known.defined is not None:
            missing = self.mask.active & ~known.defined
            if missing.any():
                self._undefined(node, np.flatnonzero(missing))
        return known.value

    def _undefined(self, node: ast.Name, lanes: np.ndarray) -> None:
        threads = self.lanes.global_thread[lanes]
        facts = {"variable": node.id}
        self.faults.add(Fault("uninitialised-read", node.lineno, threads, facts, node), (node.id,))

    # Memory

    def load(self, node: ast.Subscript, array: Array, indices: tuple[Value, ...]) -> Value:
        access, uniform = self._access("load", node, array, indices)
        if access is None:
            return array.dtype.type(0)
        self._check_initialised(node, access)
        if uniform:
            return array.flat[access.elements[0]]
        loaded = array.flat[access.elements]
        if access.mask.full:
            return loaded
        result = np.zeros(self.lanes.count, array.dtype)
        result[access.mask.lanes] = loaded
        return result

    def store(
        self,
        node: ast.Subscript,
        array: Array,
        indices: tuple[Value, ...],
        value: Value,
    ) -> None:
        value = cast(value, array.dtype)
        access, _ = self._access("store", node, array, indices, value)
        if access is not None:
            array.flat[access.elements] = access.values
            if array.initialised is not None:
                array.initialised[access.elements] = True

    def _check_initialised(self, node: ast.Subscript, access: Access) -> None:
        if access.array.initialised is None:
            return
        fresh = ~access.array.initialised[access.elements]
        if fresh.any():
            first = int(np.flatnonzero(fresh)[0])
            facts = {
                "array": access.array.name,
                "shape": access.array.shape,
                "cell": int(access.cells[first]),
                "space": access.array.space,
            }
            threads = access.threads[fresh]
            fault = Fault("uninitialised-read", node.lineno, threads, facts, node)
            self.faults.add(fault, (access.array.name,))

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
        uniform = not array.per_copy and not any(isinstance(i, np.ndarray) for i in indices)
        picked = [pick(i, mask) for i in indices]
        cells = ravel(picked, row_major(array.shape))
        elements = cells
        if not array.contiguous:
            elements = ravel(picked, array.strides) + pick(array.origin, mask)
        if not isinstance(cells, np.ndarray):
            cells = np.full(mask.count, cells)
        if not isinstance(elements, np.ndarray):
            elements = np.full(mask.count, elements)
        threads = self.lanes.global_thread
        threads = threads if mask.full else threads[mask.lanes]
        values = None if value is None else pick(value, mask)
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
        first = self.lanes.global_thread[lanes][:64].tolist()
        facts = {
            "array": array.name,
            "shape": array.shape,
            "axis": axis,
            "index": tuple(int(a[0]) for a in at),
            "indices": {t: tuple(int(a[k]) for a in at) for k, t in enumerate(first)},
            "axis_values": (int(at[axis].min()), int(at[axis].max())),
            "access": kind,
            "names": self._names_in(_axis_index(node.slice, axis), lanes),
        }
        threads = self.lanes.global_thread[lanes]
        self.faults.add(
            Fault("out-of-bounds", node.lineno, threads, facts, node),
            (node.col_offset, axis),
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


def _axis_index(index: ast.expr, axis: int) -> ast.expr:
    return index.elts[axis] if isinstance(index, ast.Tuple) else index
