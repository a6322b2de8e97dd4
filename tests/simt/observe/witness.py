"""What a random kernel does and which of its cells race, from the program that was drawn.

A generator runs each thread; nothing of the simulator is used. Only who goes next is given, a
thread for each access, since atomics may find another value in another order. What happened before
what is worked out the long way, from the axioms of the memory model: see `causality`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from functools import cache
from types import CodeType
from typing import Any

from tests.simt.observe.causality import Causality, Cell
from tests.simt.observe.random_kernels import (
    FLAGS,
    GLOBAL,
    Drawn,
    Fence,
    If,
    Meet,
    Statement,
    Touch,
)

Event = tuple[Any, ...]
"""("load", "store" or "atomic", cell); ("fence", within_block); or (a barrier, who met)."""


class Disagreement(Exception):
    """A thread is said to go on that cannot."""


class Witness:
    """Runs a drawn kernel.

    Args:
        drawn: the kernel.
        order: which thread does each access, one after the other.

    Attributes:
        events: what each thread did, in its order.
        memory: cell -> value, of those that have been set.
        causality: what happened before what, and so what raced.

    Raises:
        Disagreement: when the order lets a thread go on that waits or has ended, or ends too early.
    """

    def __init__(self, drawn: Drawn, order: Iterable[int]) -> None:
        self.drawn = drawn
        count = drawn.grid * drawn.block
        self.events: list[list[Event]] = [[] for _ in range(count)]
        self.memory: dict[Cell, int] = {}
        self.memory |= {("g", -1, k): 0 for k in range(GLOBAL)}
        self.memory |= {("f", -1, k): 0 for k in range(FLAGS)}
        self.causality = Causality(count, drawn.block)
        self.found = _found_by_atomics(drawn.program)
        self.names: list[dict[str, int]] = [{} for _ in range(count)]
        self.threads = [self._thread(t) for t in range(count)]
        self.about: list[Any] = [None] * count
        self.decided = [False] * count
        self.waiting: dict[Event, set[int]] = defaultdict(set)
        for t in range(count):
            self._go_on(t, None)
        for t in order:
            if not isinstance(self.about[t], Touch):
                raise Disagreement(f"thread {t} is to go on, and is at {self.about[t]}")
            self._go_on(t, self._access(t, self.about[t]))
        stuck = [t for t in range(count) if self.about[t] is not None]
        if stuck:
            raise Disagreement(f"threads {stuck} have not ended")

    def _thread(self, t: int) -> Generator[tuple[Any, dict[str, int], bool], int | None, None]:
        """Runs a thread; yields what it does next, and receives what an access finds."""
        block, inside = divmod(t, self.drawn.block)
        names = {"t": inside, "b": block, "i": t, "lane": inside % 32, "x": 0}
        names |= dict.fromkeys(self.drawn.variables, 0)

        def run(body: Sequence[Statement], decided: bool) -> Generator[Any, int | None, None]:
            for each in body:
                if isinstance(each, If):
                    if value(each.condition, names):
                        asks = decided or _mentions(each.condition, self.found)
                        yield from run(each.body, asks)
                else:
                    found = yield each, names, decided
                    if isinstance(each, Touch) and each.into:
                        names[each.into] += found or 0

        return run(self.drawn.program, False)

    def _go_on(self, t: int, found: int | None) -> None:
        """Runs a thread up to its next access, or to a barrier where others are missing."""
        step = self.threads[t]
        try:
            statement, names, self.decided[t] = next(step) if found is None else step.send(found)
        except StopIteration:
            self.about[t] = None
            return
        self.about[t] = statement
        self.names[t] = names
        if isinstance(statement, Fence):
            self.events[t].append(("fence", statement.within_block))
            self.causality.fence(t, statement.within_block)
            self._go_on(t, None)
        elif isinstance(statement, Meet):
            self._meet(t, statement, names)

    def _meet(self, t: int, meet: Meet, names: dict[str, int]) -> None:
        """Waits at a barrier; the last to come lets all go on."""
        block, size = t // self.drawn.block, self.drawn.block
        members: Sequence[int] = range(block * size, (block + 1) * size)
        if meet.size == "grid":
            members = range(len(self.threads))
        elif meet.size != "block":
            mask = value(meet.mask or "0xFFFFFFFF", names)
            warp = members[t % size // 32 * 32 :][:32]
            members = [other for lane, other in enumerate(warp) if mask >> lane & 1]
        kind = {"part": "warp"}.get(meet.size, meet.size)
        event = (kind, frozenset(members))
        here = self.waiting[event]
        here.add(t)
        if len(here) == len(members):
            del self.waiting[event]
            self.causality.meet(sorted(members))
            for other in members:
                self.events[other].append(event)
            for other in members:
                self._go_on(other, None)

    def _access(self, t: int, touch: Touch) -> int:
        """Does a thread's access, and returns what it finds."""
        names = self.names[t]
        block = t // self.drawn.block if touch.array == "s" else -1
        cell = touch.array, block, value(touch.index, names)
        kind = touch.kind if touch.kind in ("load", "store") else "atomic"
        self.events[t].append((kind, cell))
        found = self.memory.get(cell, 0)
        new = _updated(touch.kind, found, [value(each, names) for each in touch.operands])
        if new is not None:
            self.memory[cell] = new
        self.causality.touch(
            t,
            cell,
            reads=kind != "store",
            writes=new is not None,
            strong=kind == "atomic",
            decided=self.decided[t],
        )
        return found


def _mentions(expression: str, names: Iterable[str]) -> bool:
    return not set(re.findall(r"\w+", expression)).isdisjoint(names)


def _found_by_atomics(program: Sequence[Statement]) -> set[str]:
    """Returns the variables, and the arrays, that hold what depends on what an atomic found."""
    found: set[str] = set()

    def follow(body: Sequence[Statement], decided: bool) -> None:
        for each in body:
            if isinstance(each, If):
                follow(each.body, decided or _mentions(each.condition, found))
            elif isinstance(each, Touch):
                read = (each.array, each.index)
                if each.kind == "store":
                    if decided or _mentions(" ".join((each.index, *each.operands)), found):
                        found.add(each.array)
                elif decided or each.kind != "load" or _mentions(" ".join(read), found):
                    found.update(filter(None, [each.into]))

    before = -1
    while len(found) > before:
        before = len(found)
        follow(program, False)
    return found


def value(expression: str, names: dict[str, int]) -> int:
    """Returns the value of an expression of the kernel's language, which is Python's."""
    return int(eval(_compiled(expression), {}, names))


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "kernel", "eval")


def _updated(kind: str, found: int, operands: Sequence[int]) -> int | None:
    """Returns what an access leaves in its cell, or None when it writes nothing."""
    match kind, *operands:
        case "load", *_:
            return None
        case "add", number:
            return found + number
        case "max", number:
            return max(found, number)
        case "cas", expected, number:
            return number if found == expected else None
        case _, number:
            return number
