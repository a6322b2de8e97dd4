"""The order in which lanes update a cell atomically, where it shows in what they leave or find.

The interpreter takes the blocks of a batch through the text together, and at each atomic their
lanes come in the order of blocks. Compiled, a block comes to its end before the next one begins. A
cell sees its updates in the same order both ways where no block comes to one that lies earlier in
the text, or in an earlier turn of a loop, than one that a block before it has come to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register
from simt.kernel import ir
from simt.kernel.types import FLOAT64

ALIKE_IN_ANY_ORDER = {f"cuda.atomic.{how}" for how in "add sub and_ or_ xor max min".split()}
"""Of whole numbers, where nobody asks what was there."""
PLACE_BITS, TURN_BITS, BATCH_BITS = 6, 17, 12
MAX_LOOPS = 2
MAX_CALLS = 16
"""Functions that call one another, and are numbered."""
_TOP = (MAX_LOOPS + 1) * PLACE_BITS + MAX_LOOPS * TURN_BITS


def order_shows(code: ir.Code) -> bool:
    """Whether it may show in which order lanes take their turn at a kernel's atomics."""
    return any(
        call.path not in ALIKE_IN_ANY_ORDER
        or call.used
        or getattr(call.arguments[0].type, "dtype", FLOAT64).kind not in "iu"
        for call in _calls(code.body, set())
        if call.path.startswith("cuda.atomic.")
    )


def _calls(node: Any, seen: set[int]) -> Iterator[ir.Call]:
    """Yields the calls of words in a tree, and in the functions that it calls, each once."""
    if isinstance(node, tuple):
        for each in node:
            yield from _calls(each, seen)
    elif isinstance(node, ir.Statement | ir.Expression | ir.Span):
        if isinstance(node, ir.Call):
            yield node
        for each in fields(node):
            yield from _calls(getattr(node, each.name), seen)
    elif isinstance(node, ir.Code) and id(node) not in seen:
        seen.add(id(node))
        yield from _calls(node.body, seen)


Path = tuple[int, ...]
"""The calls of functions that lead to a place, by identity."""


class Order:
    """When an update comes: a number that grows as the interpreter goes through a kernel.

    It is made of the place in the text, and of place and turn of each loop around it. A place has
    one number, however often it is written in compiled code.

    Args:
        context, masks: of the function.
        code: the kernel.

    Attributes:
        shows: whether it may show in which order lanes update some cell.
    """

    def __init__(self, context: Context, masks: Masks, code: ir.Code) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.shows = order_shows(code)
        self._places: dict[tuple[Path, int], int] = {}
        if self.shows:
            self._number(code.body, ())
        self._path: Path = ()
        self._loops: list[tuple[int, Register]] = []

    def _number(self, node: Any, path: Path) -> None:
        """Numbers atomics, and loops around them, as the interpreter comes to them."""
        if isinstance(node, tuple):
            for each in node:
                self._number(each, path)
        elif isinstance(node, ir.Loop):
            self._number(node.before, path)
            self._places[path, id(node)] = len(self._places) + 1
            for part in (node.most, node.test, node.body, node.after, node.orelse):
                self._number(part, path)
        elif isinstance(node, ir.Store):
            for part in (node.value, node.array, node.index):
                self._number(part, path)
        elif isinstance(node, ir.DeviceCall):
            self._number(node.arguments, path)
            if len(path) < MAX_CALLS:
                self._number(node.code.body, (*path, id(node)))
        elif isinstance(node, ir.Statement | ir.Expression | ir.Span):
            for each in fields(node):
                self._number(getattr(node, each.name), path)
            if isinstance(node, ir.Call) and node.path.startswith("cuda.atomic."):
                self._places[path, id(node)] = len(self._places) + 1

    @contextmanager
    def call(self, node: ir.DeviceCall) -> Iterator[None]:
        """What is written within is what a function does that is called."""
        before, self._path = self._path, (*self._path, id(node))
        yield
        self._path = before

    def enter_loop(self, node: ir.Loop) -> None:
        """Lanes come to a loop."""
        turns = self.w.memory("i64") if self.shows else ""
        if turns:
            self.w.store("0", turns, "i64")
        self._loops.append((self._places.get((self._path, id(node)), 0), turns))

    def turn(self) -> None:
        """They come to its next turn."""
        if self.shows:
            self.w.add("1", self._loops[-1][1])

    def leave_loop(self) -> None:
        """All of them have left it."""
        self._loops.pop()

    def _now(self, node: ir.Call) -> Register:
        """The number of an atomic that is done now; gives up where there is no room for it."""
        w, bits = self.w, _TOP
        place = self._places.get((self._path, id(node)), 1 << PLACE_BITS)
        if len(self._loops) > MAX_LOOPS or place >= 1 << PLACE_BITS:
            raise NotCompiled("an atomic whose order may show, within loops within loops")
        now = w.make(f"shl i64 {self.context.slot('batch')}, {bits}")
        for loop, turns in self._loops:
            turn = w.load(turns, "i64")
            self.context.suspect_if(w.make(f"icmp uge i64 {turn}, {1 << TURN_BITS}"))
            bits -= PLACE_BITS
            now = w.make(f"or i64 {now}, {loop << bits}")
            bits -= TURN_BITS
            now = w.make(f"or i64 {now}, {w.make(f'shl i64 {turn}, {bits}')}")
        return w.make(f"or i64 {now}, {place << (bits - PLACE_BITS)}")

    def check(self, node: ir.Call, memory: Memory, elements: Register) -> None:
        """Gives up where an earlier block has updated a cell later than this one does now.

        Args:
            node: the atomic.
            memory: the array.
            elements: memory with the element of each lane, i64.
        """
        if memory.space != "global":
            return  # of its own shared memory a block knows the order
        w, now = self.w, self._now(node)
        latest, bad = self.context.slot(f"shadow turns {memory.name}"), w.memory("i8")
        w.store("0", bad, "i8")
        here = self.masks.here
        with w.loop(str(self.context.lanes)) as lane, w.when(self.masks.takes_part(here, lane)):
            at = w.load(elements, "i64", lane)
            late = w.make(f"icmp ugt i64 {w.load(latest, 'i64', at)}, {now}")
            late = w.make(f"zext i1 {late} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {late}"), bad, "i8")
            w.store(now, latest, "i64", at)
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))
