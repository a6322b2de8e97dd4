"""What the lanes of a batch hold: their variables, and every load and store they make."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.access import Access, Pattern
from gpu_course.simt.bounds import Bounds
from gpu_course.simt.effort import STEPS_OF_ACCESSES
from gpu_course.simt.faults import Fault, FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array, bind, row_major
from gpu_course.simt.observer import Observer
from gpu_course.simt.policy import STRICT, Policy
from gpu_course.simt.printout import Printout
from gpu_course.simt.program import Program
from gpu_course.simt.types import Type
from gpu_course.simt.values import MixedArrays, Several, merge, pick, poison, ravel, settled
from gpu_course.simt.variables import Value, Variable
from gpu_course.simt.vocabulary import atomics
from gpu_course.simt.vocabulary.allocate import Arena
from gpu_course.simt.vocabulary.functions import cast

if TYPE_CHECKING:
    from gpu_course.simt.inferred import Inferred

# Vectors kept beside what they were cast to; a kernel has few index variables.
MOST_CONVERTED = 16


class Machine(Bounds):
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
        order_seed: shuffles the order in which lanes take their turn at atomics.
        printout: where the threads print.
        policy: what counts as an error.
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
        order_seed: int | None = None,
        printout: Printout | None = None,
        policy: Policy = STRICT,
    ) -> None:
        self.program = inferred.program or program
        self.inferred = inferred
        self.types = inferred.types
        self.requests = inferred.requests
        self.lanes = lanes
        self.observers = observers
        self.faults = faults
        self.steps_left = step_budget
        self.mask = lanes.alive
        self.returned = np.zeros(lanes.count, bool)
        self.arena = Arena(lanes, dynamic_bytes)
        self.rng = None if order_seed is None else np.random.default_rng(order_seed)
        self.printout = printout or Printout()
        self.policy = policy
        self.unused: set[ast.Call] = set()
        self._constants: dict[int, Array] = {}
        self._patterns: dict[ast.expr, Pattern] = {}
        self._converted: dict[tuple[int, Type], tuple[np.ndarray, np.ndarray]] = {}
        self.variables = {
            name: Variable(cast(v, self.types[name]), None) for name, v in arguments.items()
        }

    # Arithmetic, which a machine with expressions knows

    def operation(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """Returns left op right."""
        raise NotImplementedError

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        """Returns left op right, as bool."""
        raise NotImplementedError

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
        version = self.program.read(node)
        known = self.variables.get(version)
        if known is None:
            self._undefined(node, self.mask.lanes)
            type_ = self.types[version]
            return poison(type_)
        if known.defined is not None:
            missing = self.mask.active & ~known.defined
            if missing.any():
                self._undefined(node, np.flatnonzero(missing))
        value = self.settled(node, known.value)
        return self.converted(value, self.inferred.reads[node])

    def settled(self, node: ast.expr, value: Value) -> Value:
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
            fact = (
                f"{ast.unparse(node)} stands for {one} in some threads here and for {other} in "
                "others: the simulator takes one array at a time, Numba takes both"
            )
            hint = "use each array under its own name, in a branch of its own"
            raise self.program.kernel.refuse(node, fact, hint) from None

    def converted(self, value: Value, type_: Type) -> Value:
        """Returns a value cast to a type; a vector that has been cast before is the same vector.

        An index variable that stays as it is thus stays one object, and its pattern one pattern.
        """
        if not isinstance(value, np.ndarray) or value.dtype == type_:
            return cast(value, type_)
        known = self._converted.get((id(value), type_))
        if known is not None and known[0] is value:
            return known[1]
        if len(self._converted) >= MOST_CONVERTED:
            self._converted.clear()
        found = cast(value, type_)
        self._converted[id(value), type_] = value, found
        return found

    def _undefined(self, node: ast.Name, lanes: np.ndarray) -> None:
        threads = self.lanes.global_thread[lanes]
        facts = {"variable": node.id}
        self.faults.add(Fault("uninitialised-read", node.lineno, threads, facts, node), (node.id,))

    # Memory

    def constant_array(self, name: str, data: np.ndarray) -> Array:
        """An array of the kernel's file: read-only, the same for all lanes."""
        key = id(data)
        if key not in self._constants:
            (array,) = bind({name: data}).values()
            fixed = partial(replace, space="const", writable=False)
            fields = {part: fixed(own) for part, own in array.fields.items()}
            self._constants[key] = fixed(array, fields=fields)
        return self._constants[key]

    def load(self, node: ast.expr, array: Array, indices: tuple[Value, ...]) -> Value:
        index = node.slice if isinstance(node, ast.Subscript) else node
        access, uniform = self._access("load", node, index, array, indices)
        if access is None:
            return array.dtype.type(0)
        self._check_initialised(node, access)
        if uniform:
            return array.flat[access.elements[0]]
        loaded = access.found()
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
        access, _ = self._access("store", node, node.slice, array, indices, value)
        if access is not None:
            array.flat[access.elements] = access.values
            if array.initialised is not None:
                array.initialised[access.elements] = True

    def update(
        self,
        call: ast.Call,
        array: Array,
        indices: tuple[Value, ...],
        name: str,
        operands: Sequence[Value],
    ) -> Value:
        """Updates cells atomically, lane after lane; the old values."""
        returns = call not in self.unused
        access, _ = self._access(
            "atomic",
            call,
            call.args[1],
            array,
            indices,
            operands[-1],
            returns=returns,
            expected=operands[0] if name == "cas" else None,
        )
        if access is None:
            return array.dtype.type(0)
        self._check_initialised(call, access)
        turns = access.turns
        given = [np.broadcast_to(pick(o, access.mask), turns.shape)[turns] for o in operands]
        cells = access.elements[turns]
        found = atomics.apply(name, array.flat, cells, given, returns=returns)
        old = np.zeros(self.lanes.count, array.dtype)
        if found is not None:
            old[access.mask.lanes[turns]] = found
        return old

    def _check_initialised(self, node: ast.expr, access: Access) -> None:
        initialised = access.array.initialised
        if initialised is None:
            return
        if initialised.all():
            # Once all of it is written, it stays so.
            access.array.initialised = None
            return
        fresh = ~initialised[access.elements]
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
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
        value: Value = None,
        *,
        returns: bool = True,
        expected: Value = None,
    ) -> tuple[Access | None, bool]:
        """Checks the bounds, tells the observers; (None, ...) when no lane is in bounds."""
        self.steps_left -= STEPS_OF_ACCESSES[kind]
        # Before it is compared with the pattern's: from index -1 to index 0 is not one cell on.
        indices = self.numbers_from_start(node, index, array, indices)
        pattern = self._patterns.get(node)
        moved = None if pattern is None else pattern.distance(array, indices, self.mask)
        if pattern is None or moved is None:
            pattern, moved = self._new_pattern(kind, node, index, array, indices), 0
            if not pattern.mask:
                return None, False
        mask, whole = pattern.mask, array.root or array
        access = Access(
            kind=kind,
            array=whole,
            mask=mask,
            threads=self.lanes.threads_of(mask),
            line=node.lineno,
            pattern=pattern,
            moved=moved,
            find_cells=partial(self._cells, array, indices, mask),
            values=None if value is None else pick(value, mask),
            returns=returns,
            expected=None if expected is None else pick(expected, mask),
        )
        if kind == "atomic":
            access.turns = np.arange(mask.count)
            if self.rng is not None:
                self.rng.shuffle(access.turns)
        if whole.address % whole.dtype.itemsize:
            facts = {"array": whole.name, "address": whole.address, "size": whole.dtype.itemsize}
            fault = Fault("misaligned", node.lineno, access.threads, facts, node)
            self.faults.add(fault, (whole.name,))
        for observer in self.observers:
            observer.access(access)
        uniform = not any(
            isinstance(i, np.ndarray) for i in (array.origin, *indices, *array.strides)
        )
        return access, uniform and mask is self.mask

    def _new_pattern(
        self,
        kind: str,
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
    ) -> Pattern:
        """Checks the bounds; remembers the pattern where all lanes are in them."""
        mask, counted = self.mask, self.from_start(array, indices)
        if counted is not indices:
            self.advise_from_end(node, index, array, indices)
        good = self.in_bounds(kind, node, index, array, counted)
        if good is not None:
            mask = mask & good
        strides = tuple(pick(s, mask) for s in array.strides)
        elements = ravel([pick(i, mask) for i in counted], strides)
        elements = elements + pick(array.origin, mask)
        if not isinstance(elements, np.ndarray):
            elements = np.full(mask.count, elements)
        pattern = Pattern(array, indices, mask, elements)
        if good is None:
            self._patterns[node] = pattern
        return pattern

    def _cells(self, array: Array, indices: tuple[Value, ...], mask: Mask) -> np.ndarray:
        picked = [pick(i, mask) for i in self.from_start(array, indices)]
        cells = ravel(picked, row_major(tuple(pick(n, mask) for n in array.shape)))
        return np.broadcast_to(cells, mask.count)
