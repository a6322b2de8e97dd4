"""Which loads of shared memory nobody can race with: a fact of the text.

Between two barriers of its block a thread may touch what others touch. Where nothing is stored to
an array in any interval that a load of it lies in, no store can be unordered beside that load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from simt.kernel import ir
from simt.kernel.types import ArrayType

ANY = -1
"""Stands for arrays of which the text does not say which they are."""
Stored = frozenset[int]
NOTHING: Stored = frozenset()
BARRIERS = frozenset(f"cuda.syncthreads{how}" for how in ("", "_count", "_and", "_or"))


def unraced_loads(code: ir.Code) -> set[int]:
    """Returns the loads of shared memory beside which nothing is stored, by identity."""
    walk = _Intervals(code)
    ahead, behind = walk.found(forward=True), walk.found(forward=False)
    clear = set()
    for load, arrays in walk.loads.items():
        stored = ahead.get(load, NOTHING) | behind.get(load, NOTHING)
        if ANY not in stored and not stored & arrays and ANY not in arrays:
            clear.add(load)
    return clear


class _Intervals:
    """Goes through a kernel as its threads do, or backwards, until nothing new comes."""

    def __init__(self, code: ir.Code) -> None:
        self.code = code
        self.named: dict[str | int, set[int]] = {}
        self.loads: dict[int, Stored] = {}
        while self._name(code.body):
            pass
        self._collect(code.body)

    def _name(self, body: ir.Block) -> bool:
        """Learns which arrays stand behind a name; returns whether anything was new."""
        new = False
        for node in _statements(body):
            if not isinstance(node, ir.Assign) or node.target is None:
                continue
            if isinstance(node.value.type, ArrayType):
                known = self.named.setdefault(node.target, set())
                before = len(known)
                known |= self._arrays(node.value)
                new |= len(known) > before
        return new

    def _arrays(self, node: ir.Expression) -> set[int]:
        if isinstance(node, ir.NewArray):
            return {node.number}
        if isinstance(node, ir.Read):
            return set(self.named.get(node.variable, set()))
        if isinstance(node, ir.Temporary):
            return set(self.named.get(node.number, set()))
        return {ANY}

    def _collect(self, body: ir.Block) -> None:
        for statement in _statements(body):
            for node in _expressions(statement):
                if isinstance(node, ir.Load) and _is_shared(node.array):
                    self.loads[id(node)] = frozenset(self._arrays(node.array))

    def found(self, *, forward: bool) -> dict[int, Stored]:
        """Returns what was stored since the last barrier before each load, or is up to the next."""
        self.forward = forward
        self.seen: dict[int, Stored] = {}
        self.left: list[Stored] = []
        self._block(self.code.body, NOTHING)
        return self.seen

    def _block(self, body: ir.Block, state: Stored) -> Stored:
        for node in body if self.forward else reversed(body):
            state = self._statement(node, state)
        return state

    def _statement(self, node: ir.Statement, state: Stored) -> Stored:
        if isinstance(node, ir.If):
            if self.forward:
                state = self._own(node, state)
            arms = self._block(node.body, state) | self._block(node.orelse, state)
            return arms if self.forward else self._own(node, arms)
        if isinstance(node, ir.Loop):
            return self._loop(node, state)
        if isinstance(node, ir.Leave):
            # Where it goes to is met by all that any part of the loop, or of the kernel, stores.
            self.left.append(state)
            return self._own(node, state)
        return self._own(node, state)

    def _loop(self, node: ir.Loop, state: Stored) -> Stored:
        if self.forward:
            state = self._block(node.before, state)
        top = state
        while True:
            if self.forward:
                end = self._own(node, top)
                end = self._block(node.after, self._block(node.body, end))
            else:
                end = self._block(node.body, self._block(node.after, top))
                end = self._own(node, end)
            # Whoever leaves a turn early takes along what was stored until then.
            both = top | end | self._all_stored(node) if _leaves(node.body) else top | end
            if both == top:
                break
            top = both
        top = self._own(node, top)
        top |= self._block(node.orelse, top)
        return top if self.forward else self._block(node.before, top)

    def _all_stored(self, node: ir.Loop) -> Stored:
        found: set[int] = set()
        for statement in _statements((node,)):
            found |= self._stored_by(statement)
        return frozenset(found)

    def _own(self, node: ir.Statement, state: Stored) -> Stored:
        """What a statement does itself; statements in it not counted."""
        stored = frozenset(self._stored_by(node))
        after = state | stored
        barrier = any(
            isinstance(each, ir.Call) and each.path in BARRIERS for each in _expressions(node)
        )
        for each in _expressions(node):
            if id(each) in self.loads:
                known = self.seen.get(id(each), NOTHING)
                self.seen[id(each)] = known | (after if barrier else state) | stored
        return stored if barrier else after

    def _stored_by(self, node: ir.Statement) -> set[int]:
        found: set[int] = set()
        if isinstance(node, ir.Store) and _is_shared(node.array):
            found |= self._arrays(node.array)
        for each in _expressions(node):
            if isinstance(each, ir.Call) and each.path.startswith("cuda.atomic."):
                if _is_shared(each.arguments[0]):
                    found |= self._arrays(each.arguments[0])
            elif isinstance(each, ir.DeviceCall):
                found.add(ANY)
        return found


def _is_shared(array: ir.Expression) -> bool:
    return getattr(array.type, "space", "") == "shared"


def _leaves(body: Sequence[ir.Statement]) -> bool:
    return any(isinstance(node, ir.Leave) for node in _statements(tuple(body)))


def _statements(body: ir.Block) -> Iterator[ir.Statement]:
    """All statements of a block, those within others too."""
    for node in body:
        yield node
        for each in fields(node):
            value = getattr(node, each.name)
            if isinstance(value, tuple) and value and isinstance(value[0], ir.Statement):
                yield from _statements(value)


def _expressions(node: Any) -> Iterator[ir.Expression]:
    """The expressions of a statement, but not those of statements within it."""
    for each in fields(node):
        yield from _within(getattr(node, each.name))


def _within(value: Any) -> Iterator[ir.Expression]:
    if isinstance(value, ir.Expression):
        yield value
        yield from _expressions(value)
    elif isinstance(value, tuple):
        for part in value:
            if not isinstance(part, ir.Statement):
                yield from _within(part)
