"""What a kernel does to its arrays anywhere: loads, stores, atomics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from simt.compiled.facts.intervals import Intervals, expressions_of, statements_of
from simt.kernel import ir
from simt.kernel.types import ArrayType

LOAD, STORE, ATOMIC = "load", "store", "atomic"
ALL = frozenset((LOAD, STORE, ATOMIC))


class Uses:
    """What is done to each array of a kernel.

    Args:
        code: the kernel.
        unraced: its loads from shared memory that nobody can race with, by identity.
    """

    def __init__(self, code: ir.Code, unraced: Set[int]) -> None:
        self._walk = Intervals(code)
        self._parameters = code.parameters
        self._unraced = unraced
        self._found: defaultdict[str, set[str]] = defaultdict(set)
        self._always: set[str] = set()
        self._cells: set[int] = set()
        for statement in statements_of(code.body):
            if isinstance(statement, ir.Store):
                self._note(self._of_cell(statement.array), STORE)
            for node in expressions_of(statement):
                self._expression(node)
            if isinstance(statement, ir.Assign) and isinstance(statement.value.type, ArrayType):
                self._given_on(statement.value)

    def of(self, name: str) -> Set[str]:
        """Returns what is done to an array: of LOAD, STORE and ATOMIC.

        A load that nobody can race with is left out.
        """
        return self._always | self._found[name]

    def _expression(self, node: ir.Expression) -> None:
        if isinstance(node, ir.Load):
            array = self._of_cell(node.array)
            if id(node) not in self._unraced:
                self._note(array, LOAD)
        elif isinstance(node, ir.Call) and node.path.startswith("cuda.atomic."):
            self._note(node.arguments[0], ATOMIC)
        elif isinstance(node, ir.DeviceCall | ir.View) and id(node) not in self._cells:
            given = node.arguments if isinstance(node, ir.DeviceCall) else (node.array,)
            for array in given:
                if isinstance(array.type, ArrayType):
                    self._note(array, *ALL)

    def _of_cell(self, array: ir.Expression) -> ir.Expression:
        """The array of a cell: `a` of `a[i][j]`, of whose rows nothing is asked but that cell."""
        while isinstance(array, ir.View):
            self._cells.add(id(array))
            array = array.array
        return array

    def _given_on(self, array: ir.Expression) -> None:
        """An argument gets a second name, under which anything may be done to it."""
        if not isinstance(array, ir.NewArray):
            self._note(array, *ALL)

    def _note(self, array: ir.Expression, *what: str) -> None:
        if isinstance(array, ir.Read) and array.variable in self._parameters:
            self._found[array.variable] |= set(what)
            return
        arrays = self._walk.arrays(array)
        if not arrays or min(arrays) < 0:
            self._always |= set(what)
        for number in arrays:
            self._found[f"own {number}"] |= set(what)
