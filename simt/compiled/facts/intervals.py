"""Which loads of shared memory nobody can race with: a fact of the text.

Between two barriers of its block a thread may touch what others touch. Where nothing is stored to
an array in any interval that a load of it lies in, no store can be unordered beside that load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from simt.kernel import ir
from simt.kernel.types import ArrayType

ANY = -1
"""Stands for arrays of which the text does not say which they are."""
Stored = frozenset[int]
NOTHING: Stored = frozenset()
_WAYS = ("break", "continue")
BARRIERS = frozenset(f"cuda.syncthreads{how}" for how in ("", "_count", "_and", "_or"))


def unraced_loads(code: ir.Code) -> set[int]:
    """Returns the loads of shared memory beside which nothing is stored, by identity."""
    walk = Intervals(code)
    ahead, behind = walk.found(forward=True), walk.found(forward=False)
    clear = set()
    for load, arrays in walk.loads.items():
        stored = ahead.get(load, NOTHING) | behind.get(load, NOTHING)
        if ANY not in stored and not stored & arrays and ANY not in arrays:
            clear.add(load)
    return clear


def shared_loads(code: ir.Code) -> dict[int, list[ir.Load]]:
    """Returns all loads from each shared array, by its place in `Code.arrays`.

    Arrays are left out of which the text does not say so, and those that are handed to a function.
    """
    walk = Intervals(code)
    found: dict[int, list[ir.Load]] = {}
    mixed: set[int] = set()
    for statement in statements_of(code.body):
        for node in expressions_of(statement):
            if isinstance(node, ir.Load) and _is_shared(node.array):
                arrays = walk.loads[id(node)]
                if len(arrays) > 1 or ANY in arrays:
                    mixed |= arrays
                for number in arrays:
                    found.setdefault(number, []).append(node)
            elif isinstance(node, ir.DeviceCall | ir.View):
                given = node.arguments if isinstance(node, ir.DeviceCall) else (node.array,)
                for array in given:
                    if _is_shared(array):
                        mixed |= walk.arrays(array)
    return {} if ANY in mixed else {n: own for n, own in found.items() if n not in mixed}


class Intervals:
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
        for node in statements_of(body):
            if not isinstance(node, ir.Assign) or node.target is None:
                continue
            if isinstance(node.value.type, ArrayType):
                known = self.named.setdefault(node.target, set())
                before = len(known)
                known |= self.arrays(node.value)
                new |= len(known) > before
        return new

    def arrays(self, node: ir.Expression) -> set[int]:
        """The arrays that an expression may stand for."""
        if isinstance(node, ir.NewArray):
            return {node.number}
        if isinstance(node, ir.Read):
            return set(self.named.get(node.variable, set()))
        if isinstance(node, ir.Temporary):
            return set(self.named.get(node.number, set()))
        return {ANY}

    def _collect(self, body: ir.Block) -> None:
        for statement in statements_of(body):
            for node in expressions_of(statement):
                if isinstance(node, ir.Load) and _is_shared(node.array):
                    self.loads[id(node)] = frozenset(self.arrays(node.array))

    def found(self, *, forward: bool) -> dict[int, Stored]:
        """Returns what was stored since the last barrier before each load, or is up to the next."""
        self.forward = forward
        self.seen: dict[int, Stored] = {}
        self.ways: list[dict[str, Stored]] = []
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
            found = self._loop_on(node, state) if self.forward else self._loop_back(node, state)
            self.ways.pop()
            return found
        if isinstance(node, ir.Leave):
            if self.forward:
                state = self._own(node, state)
                if node.how in _WAYS:
                    self.ways[-1][node.how] = self.ways[-1].get(node.how, NOTHING) | state
                return NOTHING
            # What is stored where it goes to; a thread that returns stores nothing any more.
            return self._own(node, self.ways[-1][node.how] if node.how in _WAYS else NOTHING)
        return self._own(node, state)

    def _loop_on(self, node: ir.Loop, state: Stored) -> Stored:
        """What has been stored when a loop is over."""
        top = self._block(node.before, state)
        ways: dict[str, Stored] = {}
        self.ways.append(ways)
        while True:
            tested = self._own(node, top)
            end = self._block(node.body, tested) | ways.get("continue", NOTHING)
            both = top | self._block(node.after, end)
            if both == top:
                break
            top = both
        # A loop over arrays ends untested.
        over = tested if node.most is None else tested | top
        return self._outside(node.orelse, over) | ways.get("break", NOTHING)

    def _loop_back(self, node: ir.Loop, state: Stored) -> Stored:
        """What is stored from the beginning of a loop on."""
        top = NOTHING
        self.ways.append({"break": state, "continue": NOTHING})
        over = self._outside(node.orelse, state)
        while True:
            self.ways[-1]["continue"] = end = self._block(node.after, top)
            both = self._own(node, self._block(node.body, end) | over) | top
            if node.most is not None:
                both |= over
            if both == top:
                break
            top = both
        return self._block(node.before, top)

    def _outside(self, body: ir.Block, state: Stored) -> Stored:
        """Goes through what follows the last turn of a loop, in which `break` leaves one around."""
        own = self.ways.pop()
        state = self._block(body, state)
        self.ways.append(own)
        return state

    def _own(self, node: ir.Statement, state: Stored) -> Stored:
        """What a statement does itself; statements in it not counted."""
        stored = frozenset(self._stored_by(node))
        after = state | stored
        barrier = any(isinstance(each, ir.Call) and each.path in BARRIERS for each in _always(node))
        for each in expressions_of(node):
            if id(each) in self.loads:
                known = self.seen.get(id(each), NOTHING)
                self.seen[id(each)] = known | (after if barrier else state) | stored
        return stored if barrier else after

    def _stored_by(self, node: ir.Statement) -> set[int]:
        found: set[int] = set()
        if isinstance(node, ir.Store) and _is_shared(node.array):
            found |= self.arrays(node.array)
        for each in expressions_of(node):
            if isinstance(each, ir.Call) and each.path.startswith("cuda.atomic."):
                if _is_shared(each.arguments[0]):
                    found |= self.arrays(each.arguments[0])
            elif isinstance(each, ir.DeviceCall):
                found.add(ANY)
        return found


def _is_shared(array: ir.Expression) -> bool:
    return getattr(array.type, "space", "") == "shared"


def _always(node: Any) -> Iterator[ir.Expression]:
    """The expressions of a statement that are worked out whenever it is come to."""
    for each in fields(node):
        yield from _within(getattr(node, each.name), _always_of)


def _always_of(node: ir.Expression) -> Iterator[ir.Expression]:
    if isinstance(node, ir.Select):
        yield from _within(node.test, _always_of)
    elif isinstance(node, ir.Logical):
        yield from _within(node.parts[:1], _always_of)
    elif isinstance(node, ir.Compare):
        yield from _within(node.operands[:2], _always_of)
    else:
        yield from _always(node)


def statements_of(body: ir.Block) -> Iterator[ir.Statement]:
    """All statements of a block, those within others too."""
    for node in body:
        yield node
        for each in fields(node):
            value = getattr(node, each.name)
            if isinstance(value, tuple) and value and isinstance(value[0], ir.Statement):
                yield from statements_of(value)


def expressions_of(node: Any) -> Iterator[ir.Expression]:
    """The expressions of a statement, but not those of statements within it."""
    for each in fields(node):
        yield from _within(getattr(node, each.name), expressions_of)


def _within(
    value: Any, parts: Callable[[ir.Expression], Iterator[ir.Expression]]
) -> Iterator[ir.Expression]:
    if isinstance(value, ir.Expression):
        yield value
        yield from parts(value)
    elif isinstance(value, tuple):
        for part in value:
            if isinstance(part, ir.Span):
                yield from _within((part.low, part.high, part.step), parts)
            elif not isinstance(part, ir.Statement):
                yield from _within(part, parts)
