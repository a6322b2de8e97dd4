"""Which local arrays are indexed by what nobody knows before the kernel runs.

A register has no address, so an array is in registers only where each of its indices is a number by
the time the compiler is done. It is one where it follows from numbers in the text, and from loops
that can be unrolled since they end by such numbers alone. Everything else depends on an argument,
a thread's number or something loaded; then the array lies in local memory, or each access looks
through all of its places.

The tree is walked as by a compiler that divides all it meets into what is known and what is not
(N. D. Jones, C. K. Gomard, P. Sestoft, Partial Evaluation and Automatic Program Generation, 1993,
chapter 4). No number is worked out: whether a known loop is too long to be unrolled, only the real
compiler can say.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from simt.kernel import ir, trees
from simt.kernel.types import ArrayType, TupleType
from simt.vocabulary import loops

Name = str | int
"""A variable's version, or the number of a temporary."""
MAX_CALLS = 8
"""Calls inside one another that are followed."""


@dataclass(frozen=True)
class Seen:
    """What is known of a value: whether all of it is, and which arrays of the kernel it may be."""

    known: bool
    arrays: frozenset[int] = frozenset()


KNOWN, UNKNOWN = Seen(True), Seen(False)
State = dict[Name, Seen]


@dataclass(frozen=True)
class Indexed:
    """Local arrays with an index that is known only as the kernel runs.

    Attributes:
        bytes: of a thread, of these arrays.
        lines: where they are indexed so, in order.
    """

    bytes: int = 0
    lines: tuple[int, ...] = ()


@functools.lru_cache(maxsize=256)
def indexed(code: ir.Code) -> Indexed:
    """Returns the local arrays of a kernel that are indexed by what is known only as it runs."""
    local = {n: each.size for n, each in enumerate(code.arrays) if each.space == "local"}
    if not local:
        return Indexed()
    walk = _Walk()
    walk.block(code.body, dict.fromkeys(code.parameters, UNKNOWN))
    found = {number: lines for number, lines in walk.found.items() if number in local}
    lines = sorted(set().union(*found.values()))
    return Indexed(sum(local[number] for number in found), tuple(lines))


@dataclass
class _Turn:
    """A loop that is under way: how its body leaves it, and how deep it is in the walk's tests."""

    tests: int
    known_break: bool = False
    unknown_break: bool = False
    unknown_continue: bool = False


@dataclass
class _Walk:
    """One walk over a kernel.

    Attributes:
        found: array -> the lines that index it by something unknown.
        tests: for each `if` that the walk is in, whether its test is known, and what it reads.
        turns: the loops that the walk is in.
        results: what each function that it is in may return.
        calls: lines of the kernel's own text that led here, the first of which counts.
    """

    found: dict[int, set[int]] = field(default_factory=dict)
    tests: list[tuple[bool, frozenset[Name]]] = field(default_factory=list)
    turns: list[_Turn] = field(default_factory=list)
    results: list[list[Seen]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    assigned: frozenset[Name] = frozenset()

    # Statements

    def block(self, body: ir.Block, state: State) -> None:
        for statement in body:
            self.statement(statement, state)

    def statement(self, node: ir.Statement, state: State) -> None:
        if isinstance(node, ir.Assign):
            value = self.value(node.value, state)
            if node.target is not None:
                state[node.target] = value
        elif isinstance(node, ir.Store):
            self.value(node.value, state)
            self.cell(node.array, node.index, node.site, state)
        elif isinstance(node, ir.If):
            self.branch(node, state)
        elif isinstance(node, ir.Loop):
            self.loop(node, state)
        elif isinstance(node, ir.Leave):
            self.leave(node, state)

    def branch(self, node: ir.If, state: State) -> None:
        test = self.value(node.test, state)
        arms = (dict(state), dict(state))
        self.tests.append((test.known, frozenset(trees.names_read(node.test))))
        for arm, body in zip(arms, (node.body, node.orelse), strict=True):
            self.block(body, arm)
        self.tests.pop()
        joined = _joined(*arms)
        if not test.known:
            _forget(joined, trees.names_given((*node.body, *node.orelse)))
        state.clear()
        state.update(joined)

    def leave(self, node: ir.Leave, state: State) -> None:
        value = UNKNOWN if node.value is None else self.value(node.value, state)
        if node.how == "return" and self.results:
            self.results[-1].append(value)
        if node.how not in ("break", "continue") or not self.turns:
            return
        turn = self.turns[-1]
        tests = self.tests[turn.tests :]
        if not all(known for known, _ in tests):
            turn.unknown_break |= node.how == "break"
            turn.unknown_continue |= node.how == "continue"
        elif node.how == "break":
            # A test that nothing in the loop changes ends it at once or never.
            turn.known_break |= not tests or any(read & self.assigned for _, read in tests)

    def loop(self, node: ir.Loop, state: State) -> None:
        self.block(node.before, state)
        body = frozenset(trees.names_given((*node.body, *node.after)))
        before, self.assigned = self.assigned, body
        while True:
            turn = _Turn(len(self.tests))
            later = dict(state)
            parts = trees.conjuncts(node.test)
            known = [self.value(part, later).known for part in parts]
            ends = any(
                each and body.intersection(trees.names_read(part))
                for part, each in zip(parts, known, strict=True)
            )
            self.turns.append(turn)
            self.block(node.body, later)
            self.turns.pop()
            self.block(node.after, later)
            if not (ends or turn.known_break):
                _forget(later, body)
            elif turn.unknown_continue:
                _forget(later, trees.names_given(node.body))
            joined = _joined(state, later)
            if joined == state:
                break
            state.clear()
            state.update(joined)
        self.assigned = before
        if not all(known) or turn.unknown_break or not (ends or turn.known_break):
            _forget(state, body)
        self.block(node.orelse, state)

    # Expressions

    def value(self, node: ir.Expression, state: State) -> Seen:
        if isinstance(node, ir.Constant):
            return KNOWN
        if isinstance(node, ir.NewArray):
            return Seen(True, frozenset({node.number}))
        if isinstance(node, ir.Read):
            return state.get(node.variable, UNKNOWN)
        if isinstance(node, ir.Temporary):
            return state.get(node.number, UNKNOWN)
        if isinstance(node, ir.Load):
            self.cell(node.array, node.index, node.site, state)
            return UNKNOWN
        if isinstance(node, ir.View):
            return self.view(node, state)
        if isinstance(node, ir.DeviceCall):
            return self.call(node, state)
        parts = [self.value(part, state) for part in trees.parts(node)]
        known = all(part.known for part in parts)
        arrays = frozenset[int]().union(*(part.arrays for part in parts))
        if isinstance(node, ir.Call):
            if node.path == "row" and not known:
                self.add(arrays, node.line)
            known = known and (bool(parts) or node.path == "cuda.warpsize") and node.site is None
            # Numba goes over an array with a counter in memory, and no such loop is unrolled.
            known = known and node.function is not loops.ARRAY_LENGTH
            known = known and not node.path.startswith(_OF_THE_LAUNCH)
        # A number that was taken from an array, such as its length, is no array.
        holds = isinstance(node.type, ArrayType | TupleType)
        return Seen(known, arrays if holds else frozenset())

    def cell(self, array: ir.Expression, index: ir.Expression, site: ir.Site, state: State) -> None:
        owner, place = self.value(array, state), self.value(index, state)
        if not place.known:
            self.add(owner.arrays, site.line)

    def view(self, node: ir.View, state: State) -> Seen:
        owner = self.value(node.array, state)
        parts = [self.value(part, state) for part in trees.parts_of_index(node)]
        if not all(part.known for part in parts):
            self.add(owner.arrays, node.line)
        return owner

    def call(self, node: ir.DeviceCall, state: State) -> Seen:
        arguments = [self.value(part, state) for part in node.arguments]
        if len(self.calls) >= MAX_CALLS:
            for argument in arguments:
                self.add(argument.arrays, node.line)
            return UNKNOWN
        inner: State = dict(zip(node.code.parameters, arguments, strict=False))
        outer = self.tests, self.turns, self.assigned
        self.tests, self.turns, self.assigned = [], [], frozenset()
        self.calls.append(node.line)
        self.results.append([])
        self.block(node.code.body, inner)
        returned = self.results.pop()
        self.calls.pop()
        self.tests, self.turns, self.assigned = outer
        # One that returns in several places may choose among them by what is not known.
        known = len(returned) == 1 and returned[0].known
        return Seen(known, frozenset[int]().union(*(each.arrays for each in returned)))

    def add(self, arrays: Iterable[int], line: int) -> None:
        for number in arrays:
            self.found.setdefault(number, set()).add(self.calls[0] if self.calls else line)


_OF_THE_LAUNCH = (
    "cuda.threadIdx", "cuda.blockIdx", "cuda.blockDim", "cuda.gridDim", "cuda.grid",
    "cuda.gridsize", "cuda.laneid", "cuda.atomic", "cuda.shfl", "cuda.activemask",
)  # fmt: skip
"""Words whose value no argument tells."""


def _joined(one: State, other: State) -> State:
    """Returns what is known where both ways lead; a name that one has not met is the other's."""
    found: State = {}
    for name in one | other:
        left, right = one.get(name), other.get(name)
        if left is None or right is None:
            found[name] = left or right or UNKNOWN
        else:
            found[name] = Seen(left.known and right.known, left.arrays | right.arrays)
    return found


def _forget(state: State, names: Iterable[Name]) -> None:
    for name in names:
        if name in state:
            # An array is where it is, whichever way the kernel went.
            state[name] = Seen(bool(state[name].arrays), state[name].arrays)
