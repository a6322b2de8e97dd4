"""What accesses count, warp by warp: traffic, wide loads, and loads that are waited for idly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from simt.compiled.facts.patterns import PIECE_BYTES
from simt.compiled.writing import traffic
from simt.compiled.writing.arrays import Memory, has_tiles
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.whole import Place, Whole
from simt.kernel import ir
from simt.machine.lanes import WARP, WARP_BITS

EachWarp = Callable[[Register, Register, Register], None]
"""(warp, its first element, its pattern), for a warp of which lanes take part."""


class Accounts:
    """The counters of the places of a function that touch memory.

    Args:
        context, masks, whole: of the function.
        code: the kernel.

    Attributes:
        sites: how many places touch global or shared memory.
        global_sizes, shared_sizes: of the cells that they touch, in bytes.
    """

    def __init__(self, context: Context, masks: Masks, whole: Whole, code: ir.Code) -> None:
        self.context, self.w, self.masks, self.whole = context, context.w, masks, whole
        self.sites = 0
        self.global_sizes: set[int] = set()
        self.shared_sizes: set[int] = set()
        self._has_tiles = has_tiles(code)
        self._lines = sorted(_global_loads(code.body)) if self._has_tiles else []
        self._travelling: dict[int, Register] = {}

    # All lanes of a block

    def load_whole(self, line: int, place: Place, memory: Memory, first: Register) -> None:
        """Counts a load of all lanes, the first of which stands at an element."""
        self.whole.count("load", line, place, memory, first)
        if memory.space == "shared":
            for each in self._lines:
                self.whole.for_warps("set", self._sent(each), "0")
        elif self._has_tiles:
            self.whole.for_warps("add", self._sent(line))

    def store_whole(self, line: int, place: Place, memory: Memory, first: Register) -> None:
        """Counts a store of all lanes, the first of which stands at an element."""
        self.whole.count("store", line, place, memory, first)
        if memory.space == "shared":
            self.whole.for_warps("add", self.context.clocks)
            for each in self._lines:
                sent = self._sent(each)
                idle = self.context.count(each, "idle_loads")
                self.w.add(self.whole.sum_of_warps(sent), idle)
                self.whole.for_warps("set", sent, "0")

    # Some lanes, warp by warp

    def count_rows(
        self, kind: str, line: int, place: Place, memory: Memory, first: Register
    ) -> None:
        """Counts an access warp by warp: what one costs hangs on its lanes and its first byte."""
        w, here, size = self.w, self.masks.here, memory.dtype.itemsize
        self.shared_sizes.add(size)
        memos = w.at(self.context.slot("memos"), str(self.sites * traffic.SITE_WORDS), "i64")
        self.sites += 1
        counts = self.context.count(line, f"shared_{kind}", 4)
        wide = self.context.count(line, "wide_loads") if kind == "load" else ""
        key, room, vector = w.memory("i64"), w.memory("i32"), f"<{WARP} x i64>"
        elements = w.memory("i64", WARP)
        w.store("0", room, "i32")
        with w.loop(self.masks.warps_up_to(here)) as warp:
            bits = w.load(here.bits, "i32", warp)
            with w.when(w.make(f"icmp ne i32 {bits}, 0")):
                number = w.make(f"trunc i64 {warp} to i32")
                apart = w.make(f"mul i32 {number}, {traffic.MIX_WARP}")
                memo = self._memo_of(memos, w.make(f"add i32 {bits}, {apart}"))
                lane = w.make(f"call i32 @llvm.cttz.i32(i32 {bits}, i1 true)")
                start = w.make(f"shl i64 {warp}, {WARP_BITS}")
                lane = w.make(f"add i64 {start}, {w.make(f'zext i32 {lane} to i64')}")
                at = w.make(f"add i64 {first}, {self.whole.offset(place, lane)}")
                byte = w.make(f"mul i64 {at}, {size}")
                phase = w.make(f"and i64 {byte}, {PIECE_BYTES - 1}")
                known = traffic.is_known(w, memo, bits, phase, warp)
                with w.either(known) as otherwise:
                    traffic.count_known(w, memo, phase, counts)
                    w.store(traffic.key_of(w, memo, phase, byte), key, "i64")
                    otherwise()
                    beside = w.make(
                        f"load {vector}, ptr {self.whole.offsets(place, start)}, align 8"
                    )
                    all_ = w.make(f"add {vector} {beside}, {w.splat(first, 'i64', WARP)}")
                    w.do(f"store {vector} {all_}, ptr {elements}, align 8")
                    found = w.make(
                        f"call i64 @banks{size}(ptr {elements}, i32 {bits}, i64 {memory.offset}, "
                        f"ptr {memo}, ptr {counts})"
                    )
                    w.store(found, key, "i64")
                    traffic.keep_warp(w, memo, warp)
                if kind == "load":
                    part = w.make(f"icmp ne i32 {bits}, -1")
                    with w.either(part) as otherwise:
                        self._remember(warp, w.load(key, "i64"), wide, room)
                        otherwise()
                        self.whole.remember_warp(place, memory, at, warp, wide)
                if kind == "store":
                    w.add("1", self.context.clocks, warp)
                self._arrived(kind, warp)
        if kind == "load":
            self.context.suspect_if(w.make(f"icmp ne i32 {w.load(room, 'i32')}, 0"))

    def count(
        self,
        kind: str,
        line: int,
        memory: Memory,
        elements: Register,
        each_warp: EachWarp | None,
        place: Place | None,
    ) -> None:
        """Counts an access warp by warp, and does with each what is to be done.

        Args:
            kind: "load", "store", "atomic", or "atom" for an atomic that tells what it found.
            line: its line.
            memory: the array.
            elements: memory with the element of each lane.
            each_warp: what is to be done.
            place: of a load from an array that remembers what whole warps have loaded.
        """
        if memory.space == "local":
            warps = self.masks.warps_here(self.masks.here)
            self.w.add(warps, self.context.count(line, f"local_{kind}"))
            return
        slot = self.context.slot("memos")
        memo = self.w.at(slot, str(self.sites * traffic.SITE_WORDS), "i64")
        self.sites += 1
        if memory.space == "global":
            self._count_global(kind, line, memory, elements, memo, each_warp)
        else:
            self._count_shared(kind, line, memory, elements, memo, each_warp, place)

    def _count_global(
        self,
        kind: str,
        line: int,
        memory: Memory,
        elements: Register,
        memo: Register,
        each_warp: EachWarp | None,
    ) -> None:
        w, here, size = self.w, self.masks.here, memory.dtype.itemsize
        self.global_sizes.add(size)
        what = {"atomic": "red", "atom": "atom"}.get(kind, f"global_{kind}")
        counts = self.context.count(line, what, 4)
        if kind in ("atomic", "atom"):
            w.add(self.masks.number_here(here), self.context.count(line, "atomic_updates"))
        address = self.context.slot(f"address {memory.name}")
        # Of the memory that a warp has sent for, it is known whether work was done meanwhile.
        sent = self._sent(line) if kind == "load" and self._has_tiles else ""
        with w.loop(self.masks.warps_up_to(here)) as warp:
            bits = w.load(here.bits, "i32", warp)
            with w.when(w.make(f"icmp ne i32 {bits}, 0")):
                first = w.at(elements, w.make(f"shl i64 {warp}, 5"), "i64")
                own = self._memo_of(memo, bits)
                w.do(
                    f"call void @sectors{size}(ptr {first}, i32 {bits}, i64 {address}, "
                    f"ptr {own}, ptr {counts})"
                )
                if sent:
                    w.add("1", sent, warp)
                if each_warp is not None:
                    each_warp(warp, first, own)

    def _count_shared(
        self,
        kind: str,
        line: int,
        memory: Memory,
        elements: Register,
        memo: Register,
        each_warp: EachWarp | None,
        place: Place | None,
    ) -> None:
        w, here, size = self.w, self.masks.here, memory.dtype.itemsize
        self.shared_sizes.add(size)
        shared = "load" if kind == "load" else "store"
        counts = self.context.count(line, f"shared_{shared}", 4)
        wide = self.context.count(line, "wide_loads") if kind == "load" else ""
        if kind in ("atomic", "atom"):
            w.add(self.masks.number_here(here), self.context.count(line, "shared_updates"))
        room = w.memory("i32")
        w.store("0", room, "i32")
        with w.loop(self.masks.warps_up_to(here)) as warp:
            bits = w.load(here.bits, "i32", warp)
            with w.when(w.make(f"icmp ne i32 {bits}, 0")):
                first = w.at(elements, w.make(f"shl i64 {warp}, 5"), "i64")
                own = self._memo_of(memo, bits)
                key = w.make(
                    f"call i64 @banks{size}(ptr {first}, i32 {bits}, i64 {memory.offset}, "
                    f"ptr {own}, ptr {counts})"
                )
                if kind == "load" and place is not None:
                    # Loads of whole warps are remembered elsewhere than those of parts.
                    part = w.make(f"icmp ne i32 {bits}, -1")
                    with w.when(part):
                        self._remember(warp, key, wide, room)
                    with w.when(w.make(f"xor i1 {part}, true")):
                        self.whole.remember_warp(place, memory, w.load(first, "i64"), warp, wide)
                elif kind == "load":
                    self._remember(warp, key, wide, room)
                else:
                    w.add("1", self.context.clocks, warp)
                self._arrived(kind, warp)
                if each_warp is not None:
                    each_warp(warp, first, own)
        if kind == "load":
            self.context.suspect_if(w.make(f"icmp ne i32 {w.load(room, 'i32')}, 0"))

    def _remember(self, warp: Register, key: str, wide: Register, room: Register) -> None:
        """Counts a load of a warp that no earlier one brings, if there is room to remember it."""
        w = self.w
        own = w.make(f"mul i64 {warp}, {2 * traffic.TABLE}")
        table = w.at(self.context.slot("tables"), own, "i64")
        clock = w.load(self.context.clocks, "i64", warp)
        full = w.make(f"call i32 @wide(i64 {key}, ptr {table}, i64 {clock}, ptr {wide})")
        w.store(w.make(f"or i32 {w.load(room, 'i32')}, {full}"), room, "i32")

    def _memo_of(self, memo: Register, bits: Register) -> Register:
        """Where a place keeps the pattern of such lanes of a warp."""
        w = self.w
        mixed = w.make(f"lshr i32 {w.make(f'mul i32 {bits}, {traffic.MIX}')}, {traffic.MIX_BITS}")
        number = w.make(f"zext i32 {mixed} to i64")
        return w.at(memo, w.make(f"mul i64 {number}, {traffic.MEMO_WORDS}"), "i64")

    def _sent(self, line: int) -> Register:
        """Loads of a line that are on their way, for each warp."""
        if line not in self._travelling:
            warps = self.context.warps
            self._travelling[line] = self.context.zeroed("i64", max(warps, 2), 8 * warps)
        return self._travelling[line]

    def _arrived(self, kind: str, warp: Register) -> None:
        """A warp touches shared memory: loads are on their way no more."""
        w = self.w
        for line in self._lines:
            sent = self._sent(line)
            if kind != "load":
                w.add(w.load(sent, "i64", warp), self.context.count(line, "idle_loads"))
            w.store("0", sent, "i64", warp)


def _global_loads(node: Any) -> set[int]:
    """The lines at which global memory is loaded from."""
    if isinstance(node, tuple):
        return {line for each in node for line in _global_loads(each)}
    if not isinstance(node, ir.Statement | ir.Expression):
        return set()
    found = {line for each in fields(node) for line in _global_loads(getattr(node, each.name))}
    if isinstance(node, ir.Load) and getattr(node.array.type, "space", "") == "global":
        found.add(node.site.line)
    if isinstance(node, ir.DeviceCall):
        found |= _global_loads(node.code.body)
    return found
