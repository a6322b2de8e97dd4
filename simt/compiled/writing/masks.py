"""Which lanes take part: masks, how they are made, and the one that is in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.context import Context
from simt.compiled.writing.text import Register
from simt.machine.lanes import WARP, WARP_BITS


@dataclass(frozen=True)
class Here:
    """The lanes that take part.

    Attributes:
        cells: pointer to an i8 for each lane, 1 for those that do; "" where all do.
        bits: pointer to an i32 for each warp.
        count, warps: pointers to their number, and that of their warps; or a constant.
        first, last: pointers to the first lane that takes part and the last; or a constant.
    """

    cells: str
    bits: str
    count: str
    warps: str
    first: str
    last: str

    @property
    def fixed(self) -> bool:
        """Whether it is the mask of all threads, which never changes."""
        return not self.count.startswith("%")


class Masks:
    """The masks of a function.

    Attributes:
        everybody: the mask of all threads of the block.
    """

    def __init__(self, context: Context) -> None:
        self.context, self.w = context, context.w
        self.everybody = self._everybody()
        self.here = self.everybody

    @property
    def here(self) -> Here:
        """The mask in force."""
        return self._here

    @here.setter
    def here(self, here: Here) -> None:
        self._here = here
        # What is done by some lanes is done more rarely, and is most of what is compiled.
        self.w.compact = bool(here.cells)

    def _everybody(self) -> Here:
        w = self.w
        bits = w.memory("i32", max(self.context.warps, 2))
        full = self.context.threads == self.context.lanes
        with w.loop(str(self.context.warps)) as warp:
            w.store("-1", bits, "i32", warp)
        threads, warps = str(self.context.threads), str(self.context.warps)
        last = str(self.context.threads - 1)
        if full:
            return Here("", bits, threads, warps, "0", last)
        cells = w.memory("i8", self.context.lanes)
        with w.loop(str(self.context.lanes)) as lane:
            inside = w.make(f"icmp slt i64 {lane}, {self.context.threads}")
            w.store(w.make(f"zext i1 {inside} to i8"), cells, "i8", lane)
        left = self.context.threads % WARP
        w.store(str((1 << left) - 1), bits, "i32", str(self.context.warps - 1))
        return Here(cells, bits, threads, warps, "0", last)

    def number_here(self, here: Here) -> str:
        """Returns how many lanes take part, an i64."""
        return self.w.load(here.count, "i64") if here.count.startswith("%") else here.count

    def warps_here(self, here: Here) -> str:
        """Returns of how many warps."""
        return self.w.load(here.warps, "i64") if here.warps.startswith("%") else here.warps

    def takes_part(self, here: Here, lane: Register) -> str:
        """Returns an i1, whether a lane does."""
        if not here.cells:
            return "true"
        return self.w.make(f"icmp ne i8 {self.w.load(here.cells, 'i8', lane)}, 0")

    def fresh(self) -> Here:
        """Returns room for a mask."""
        w = self.w
        return Here(
            w.memory("i8", self.context.lanes),
            w.memory("i32", max(self.context.warps, 2)),
            *(w.memory("i64") for _ in range(4)),
        )

    def room_around(self, cells: Register) -> Here:
        """Returns room for a mask whose cells are there already."""
        return replace(self.fresh(), cells=cells)

    def count_lanes(self, here: Here) -> Here:
        """Counts the lanes of a mask whose cells have been set."""
        return self._count_lanes(here, str(self.context.warps))

    def _count_lanes(self, here: Here, warps: str) -> Here:
        w = self.w
        for word, start in ((here.count, 0), (here.warps, 0), (here.first, 0), (here.last, -1)):
            w.store(str(start), word, "i64")
        with w.loop(warps) as warp:
            first = w.make(f"shl i64 {warp}, 5")
            vector = w.make(f"load <32 x i8>, ptr {w.at(here.cells, first, 'i8')}, align 32")
            set_ = w.make(f"icmp ne <32 x i8> {vector}, zeroinitializer")
            bits = w.make(f"bitcast <32 x i1> {set_} to i32")
            w.store(bits, here.bits, "i32", warp)
            number = w.make(f"call i32 @llvm.ctpop.i32(i32 {bits})")
            w.add(w.make(f"zext i32 {number} to i64"), here.count)
            some = w.make(f"icmp ne i32 {bits}, 0")
            w.add(w.make(f"zext i1 {some} to i64"), here.warps)
            ends = []
            for name in ("cttz", "ctlz"):
                found = w.make(f"call i32 @llvm.{name}.i32(i32 {bits}, i1 false)")
                ends.append(w.make(f"zext i32 {found} to i64"))
            last = w.load(here.last, "i64")
            none = w.make(f"icmp slt i64 {last}, 0")
            begins = w.make(f"and i1 {none}, {some}")
            low = w.make(f"add i64 {first}, {ends[0]}")
            high = w.make(f"sub i64 {w.make(f'add i64 {first}, {WARP - 1}')}, {ends[1]}")
            old = w.load(here.first, "i64")
            w.store(w.make(f"select i1 {begins}, i64 {low}, i64 {old}"), here.first, "i64")
            w.store(w.make(f"select i1 {some}, i64 {high}, i64 {last}"), here.last, "i64")
        return here

    def lanes_up_to(self, here: Here) -> str:
        """Returns the lanes of all warps up to the last one that takes part, an i64."""
        if not here.last.startswith("%"):
            return str(self.context.lanes)
        w = self.w
        return w.make(f"shl i64 {self.warps_up_to(here)}, {WARP_BITS}")

    def warps_up_to(self, here: Here) -> str:
        """Returns the warps up to the last one that takes part, an i64."""
        if not here.last.startswith("%"):
            return str(self.context.warps)
        last = self.w.load(here.last, "i64")
        return self.w.make(f"ashr i64 {self.w.make(f'add i64 {last}, {WARP}')}, {WARP_BITS}")

    def where(self, here: Here, condition: Callable[[Register], str]) -> Here:
        """Returns the lanes of a mask for which a condition, an i1, holds."""
        w, found = self.w, self.fresh()
        if here.last.startswith("%"):
            # Whoever is beyond the last is in no part of a mask.
            self.zero(found.cells)
            warps = self.context.warps
            w.do(
                f"call void @llvm.memset.p0.i64(ptr {found.bits}, i8 0, i64 {4 * warps}, i1 false)"
            )
        with w.loop(self.lanes_up_to(here)) as lane:
            holds = condition(lane)
            part = self.takes_part(here, lane)
            both = w.make(f"select i1 {part}, i1 {holds}, i1 false")
            w.store(w.make(f"zext i1 {both} to i8"), found.cells, "i8", lane)
        return self._count_lanes(found, self.warps_up_to(here))

    def without(self, here: Here, other: Here | str) -> Here:
        """Returns the lanes of a mask that are not in another, or not in its cells."""
        cells = other if isinstance(other, str) else other.cells
        w = self.w
        return self.where(here, lambda lane: w.make(f"icmp eq i8 {w.load(cells, 'i8', lane)}, 0"))

    def copy(self, here: Here) -> Here:
        """Returns a copy of a mask, from which lanes can be taken."""
        return self.where(here, lambda lane: "true")

    def set_to(self, into: Here, here: Here) -> None:
        """Copies a mask into the room of another."""
        w = self.w
        if into.fixed:
            raise NotCompiled("lanes leave where all of them stand")
        with w.loop(str(self.context.lanes)) as lane:
            cell = w.load(here.cells, "i8", lane) if here.cells else "1"
            w.store(cell, into.cells, "i8", lane)
        self.count_lanes(into)

    def clear(self, here: Here) -> None:
        """Takes all lanes out of a mask."""
        if here.fixed:
            raise NotCompiled("all lanes leave where all of them stand")
        w = self.w
        with w.loop(str(self.context.lanes)) as lane:
            w.store("0", here.cells, "i8", lane)
        self.count_lanes(here)

    def zero(self, cells: Register) -> None:
        """Clears an i8 for each lane."""
        self.w.do(
            f"call void @llvm.memset.p0.i64(ptr {cells}, i8 0, i64 {self.context.lanes}, i1 false)"
        )

    def is_empty(self, here: Here) -> str:
        """Returns an i1, whether no lane is in a mask."""
        if not here.count.startswith("%"):
            return "false"
        return self.w.make(f"icmp eq i64 {self.w.load(here.count, 'i64')}, 0")

    @contextmanager
    def among(self, here: Here) -> Iterator[None]:
        """What is written within is done by the lanes of a mask."""
        before, self.here = self.here, here
        yield
        self.here = before

    def first_lane(self) -> Register:
        """Returns the first lane that takes part."""
        first = self.here.first
        return self.w.load(first, "i64") if first.startswith("%") else first

    def last_lane(self) -> Register:
        """Returns the last lane that takes part."""
        last = self.here.last
        return self.w.load(last, "i64") if last.startswith("%") else last

    def suspect_of_lanes(self, wrong: Callable[[Register], str]) -> None:
        """Gives up if an i1 is true for one of the lanes that are here."""
        w, bad = self.w, self.w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(self.lanes_up_to(self.here)) as lane:
            part = self.takes_part(self.here, lane)
            odd = w.make(f"select i1 {part}, i1 {wrong(lane)}, i1 false")
            w.store(
                w.make(f"or i8 {w.load(bad, 'i8')}, {w.make(f'zext i1 {odd} to i8')}"), bad, "i8"
            )
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def count_branch(self, line: int, before: Here, taken: Here) -> None:
        """Counts a branch, and the warps whose lanes part at it."""
        w = self.w
        w.add(self.warps_here(before), self.context.count(line, "branches"))
        divergent = self.context.count(line, "divergent_branches")
        with w.loop(self.warps_up_to(before)) as warp:
            all_, yes = w.load(before.bits, "i32", warp), w.load(taken.bits, "i32", warp)
            some = w.make(f"icmp ne i32 {yes}, 0")
            differ = w.make(f"icmp ne i32 {yes}, {all_}")
            w.add(w.make(f"zext i1 {w.make(f'and i1 {some}, {differ}')} to i64"), divergent)
