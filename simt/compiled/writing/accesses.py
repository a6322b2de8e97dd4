"""Loads, stores and atomics: bounds are checked, traffic is counted, and the cells are moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import fields
from typing import Any

import numpy as np

from simt.compiled.facts.affine import Known, Lanes
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.facts.patterns import IN_ROWS, PIECE_BYTES, ROW, shape_of
from simt.compiled.writing import traffic
from simt.compiled.writing.arithmetic import Number, memory_type
from simt.compiled.writing.arrays import Arrays, Memory, has_tiles
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Here, Masks
from simt.compiled.writing.order import Order
from simt.compiled.writing.races import Races
from simt.compiled.writing.text import Register
from simt.compiled.writing.touching import Each, PartRows
from simt.compiled.writing.values import Value, Values, parts_of
from simt.compiled.writing.whole import Place, Whole, are_known, offsets_of
from simt.kernel import ir
from simt.kernel.legality import STEPS_OF_ACCESSES
from simt.kernel.types import INT64
from simt.machine.lanes import WARP, WARP_BITS
from simt.vocabulary.atomics import ALWAYS_RETURN

EachWarp = Callable[[Register, Register, Register], None]
"""(warp, its first element, its pattern), for a warp of which lanes take part."""


class Accesses:
    """The places of a function that touch memory.

    Args:
        context, masks, values, arrays, races, order: of the function.
        code: the kernel.
        unraced: its loads from shared memory that nobody can race with, by identity.

    Attributes:
        sites: how many places touch global or shared memory.
        global_sizes, shared_sizes: of the cells that they touch, in bytes.
    """

    def __init__(
        self,
        context: Context,
        masks: Masks,
        values: Values,
        arrays: Arrays,
        races: Races,
        order: Order,
        whole: Whole,
        code: ir.Code,
        unraced: Set[int],
    ) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.values, self.arithmetic = values, values.arithmetic
        self.arrays, self.races, self.order, self.whole = arrays, races, order, whole
        self._has_tiles = has_tiles(code)
        self.sites = 0
        self.global_sizes: set[int] = set()
        self.shared_sizes: set[int] = set()
        self._unraced = unraced
        self._lines = sorted(_global_loads(code.body)) if self._has_tiles else []
        self._travelling: dict[int, Register] = {}

    def load(
        self, node: ir.Load, memory: Memory, axes: Sequence[Known], indices: Any, *, alike: bool
    ) -> Value:
        """Returns what lanes load.

        Args:
            node: the load.
            memory: the array.
            axes: along each axis, what is known of its index before the launch.
            indices: a value, or one for each axis.
            alike: whether all lanes load one cell.
        """
        if memory.space == "local":
            return self._load_local(node, memory, indices)
        w, type_ = self.w, memory_type(memory.dtype)
        data, here = self.arrays.data(memory), self.masks.here
        raced = id(node) not in self._unraced
        line, place = node.site.line, None
        if memory.name in self.whole.remembered:
            place = self.whole.place(node, memory, axes)
        if alike:
            elements = self._access("load", line, memory, indices, place=place, raced=raced)
            self.arrays.check_written(memory, elements)
            text = w.load(data, type_, w.load(elements, "i64", self.masks.first_lane()))
            return Value(memory.dtype, self.arithmetic.from_memory(text, memory.dtype))
        cells = w.memory(type_, self.context.lanes)

        def found(warp: Register, places: Register, memo: Register) -> None:
            into = w.at(cells, w.make(f"shl i64 {warp}, 5"), type_)
            vector = f"<32 x {type_}>"
            gather = f"llvm.masked.gather.v32{_short(memory.dtype)}.v32p0"
            self.context.declare(
                f"declare {vector} @{gather}(<32 x ptr>, i32, <32 x i1>, {vector})"
            )

            def in_a_row(first: Register) -> None:
                got = w.make(f"load {vector}, ptr {w.at(data, first, type_)}, align 1")
                w.do(f"store {vector} {got}, ptr {into}, align 1")

            def at_one(first: Register) -> None:
                got = self._splat(w.load(data, type_, first), type_)
                w.do(f"store {vector} {got}, ptr {into}, align 1")

            def other(at: Register, part: str) -> None:
                from_ = w.make(f"getelementptr inbounds {type_}, ptr {data}, <32 x i64> {at}")
                got = w.make(
                    f"call {vector} @{gather}(<32 x ptr> {from_}, i32 {memory.dtype.itemsize}, "
                    f"<32 x i1> {part}, {vector} zeroinitializer)"
                )
                w.do(f"store {vector} {got}, ptr {into}, align 1")

            self._by_shape(places, memo, self._bits_of(here, warp), in_a_row, at_one, other)

        elements = self._access("load", line, memory, indices, found, place=place, raced=raced)
        self.arrays.check_written(memory, elements)
        return Value(memory.dtype, lanes=cells)

    def _load_local(self, node: ir.Load, memory: Memory, indices: Any) -> Value:
        w, type_ = self.w, memory_type(memory.dtype)
        data, here = self.arrays.data(memory), self.masks.here
        cells = w.memory(type_, self.context.lanes)
        elements = self._access("load", node.site.line, memory, indices)
        self.arrays.check_written(memory, elements)
        alike = not any(each.lanes for each in parts_of(indices))
        first = w.load(elements, "i64", "0") if alike and not here.cells else ""
        with (
            w.loop(self.masks.lanes_up_to(here)) as lane,
            w.when(self.masks.takes_part(here, lane)),
        ):
            at = self.arrays.own_cell(memory, first or w.load(elements, "i64", lane), lane)
            w.store(w.load(data, type_, at), cells, type_, lane)
        return Value(memory.dtype, lanes=cells)

    def store(self, node: ir.Store, memory: Memory, indices: Any, value: Value) -> None:
        """Stores what lanes have.

        Args:
            node: the store.
            memory: the array.
            indices: a value, or one for each axis.
            value: what is stored, in whatever type.
        """
        w, here, line = self.w, self.masks.here, node.site.line
        lanes = self.masks.lanes_up_to(here)
        type_ = memory_type(memory.dtype)
        data = self.arrays.data(memory)
        if memory.space == "local":
            elements = self._access("store", line, memory, indices)
            with w.loop(lanes) as lane, w.when(self.masks.takes_part(here, lane)):
                at = w.load(elements, "i64", lane)
                text = self.values.converted(value, lane, memory.dtype)
                text = self.arithmetic.in_memory(text, memory.dtype)
                w.store(text, data, type_, self.arrays.own_cell(memory, at, lane))
            self.arrays.mark_written(memory, elements)
            return
        given = self.values.in_type(value, memory.dtype)
        vector = f"<32 x {type_}>"
        scatter = f"llvm.masked.scatter.v32{_short(memory.dtype)}.v32p0"
        self.context.declare(f"declare void @{scatter}({vector}, <32 x ptr>, i32, <32 x i1>)")

        def put(warp: Register, places: Register, memo: Register) -> None:
            if given.lanes:
                own = w.at(given.lanes, w.make(f"shl i64 {warp}, 5"), type_)
                what = w.make(f"load {vector}, ptr {own}, align 1")
            else:
                what = self._splat(self.arithmetic.in_memory(given.text, memory.dtype), type_)

            def in_a_row(first: Register) -> None:
                w.do(f"store {vector} {what}, ptr {w.at(data, first, type_)}, align 1")

            def other(at: Register, part: str) -> None:
                to = w.make(f"getelementptr inbounds {type_}, ptr {data}, <32 x i64> {at}")
                w.do(
                    f"call void @{scatter}({vector} {what}, <32 x ptr> {to}, "
                    f"i32 {memory.dtype.itemsize}, <32 x i1> {part})"
                )

            self._by_shape(places, memo, self._bits_of(here, warp), in_a_row, None, other)

        elements = self._access("store", line, memory, indices, put)
        self.arrays.mark_written(memory, elements)

    def can_be_whole(self, memory: Memory, axes: Sequence[Known], *, loads: bool) -> bool:
        """Whether all lanes take part in an access, each at a known place beside the first one's.

        Args:
            memory: the array.
            axes: what is known of the index along each axis.
            loads: whether it is a load.
        """
        context = self.context
        if self.masks.here.cells or not context.is_whole:
            return False
        if memory.space == "shared" and not memory.cells:
            return False
        if memory.space == "shared" and loads and memory.name not in self.whole.remembered:
            return False
        known = are_known(memory.space, axes, len(memory.shape))
        return known and memory.name not in self.arrays.unset

    def load_whole(
        self, node: ir.Load, memory: Memory, axes: Sequence[Lanes], indices: Sequence[Register]
    ) -> Value:
        """Returns what all lanes load.

        Args:
            node: the load.
            memory: the array.
            axes: along each axis, what lanes have more than the first.
            indices: along each axis, what that has, i64.
        """
        place, first = self._whole("load", node, memory, axes, indices)
        if memory.space == "global":
            if self._has_tiles:
                self.whole.for_warps("add", self._sent(node.site.line))
            self.whole.touched("load", place, memory, first)
        else:
            for line in self._lines:
                self.whole.for_warps("set", self._sent(line), "0")
            if id(node) in self._unraced:
                self._all_written(place, memory, first)
            else:
                self.whole.touched("load", place, memory, first)
        return self.whole.load(place, memory, first)

    def store_whole(
        self,
        node: ir.Store,
        memory: Memory,
        axes: Sequence[Lanes],
        indices: Sequence[Register],
        value: Value,
    ) -> None:
        """Stores what all lanes have.

        Args:
            node: the store.
            memory: the array.
            axes: along each axis, what lanes have more than the first.
            indices: along each axis, what that has, i64.
            value: what is stored, in whatever type.
        """
        place, first = self._whole("store", node, memory, axes, indices)
        if memory.space == "shared":
            self.whole.for_warps("add", self.context.clocks)
            for line in self._lines:
                sent = self._sent(line)
                idle = self.context.count(line, "idle_loads")
                self.w.add(self.whole.sum_of_warps(sent), idle)
                self.whole.for_warps("set", sent, "0")
        self.whole.touched("store", place, memory, first)
        self.whole.store(place, memory, first, self.values.in_type(value, memory.dtype))

    def _all_written(self, place: Place, memory: Memory, first: Register) -> None:
        left = self.w.load(self.context.slot(f"left {memory.name}"), "i64")
        with self.w.when(self.w.make(f"icmp ne i64 {left}, 0")):
            self.races.all_written(memory, self.whole.elements(place, first))

    # Shared memory in which some lanes stand in rows

    def can_be_rows(self, memory: Memory, axes: Sequence[Known], *, loads: bool) -> bool:
        """Whether some lanes take part in an access to shared memory, and stand in rows there.

        Args:
            memory: the array.
            axes: what is known of the index along each axis.
            loads: whether it is a load.
        """
        if memory.space != "shared" or not self.masks.here.cells or not self.context.is_whole:
            return False
        if loads and memory.name not in self.whole.remembered:
            return False
        if not are_known(memory.space, axes, len(memory.shape)):
            return False
        # Then the first lane and the last have the least and the most.
        ordered = all(_is_ordered(lanes) for lanes in axes)
        return ordered and shape_of(offsets_of(memory, axes, self.context.threads)) == IN_ROWS

    def load_rows(
        self,
        node: ir.Load,
        memory: Memory,
        axes: Sequence[Lanes],
        ends: Sequence[Sequence[Register]],
    ) -> Value:
        """Returns what some lanes load.

        Args:
            node: the load.
            memory: the array.
            axes: along each axis, what lanes have more than the block's first.
            ends: the indices of the first lane that takes part, and of the last, i64.
        """
        w, type_, size = self.w, memory_type(memory.dtype), memory.dtype.itemsize
        place, first = self._rows("load", node, memory, axes, ends)
        if id(node) in self._unraced:
            self._all_written(place, memory, first)
        else:
            self.races.check("load", memory, self._part_of(place, first))
        cells, some = w.memory(type_, self.context.lanes), self._part_of(place, first)
        with some.each() as (lane, at):
            got = some.get(self.arrays.data(memory), at, type_, size)
            w.do(f"store <{ROW} x {type_}> {got}, ptr {w.at(cells, lane, type_)}, align 1")
        return Value(memory.dtype, lanes=cells)

    def store_rows(
        self,
        node: ir.Store,
        memory: Memory,
        axes: Sequence[Lanes],
        ends: Sequence[Sequence[Register]],
        value: Value,
    ) -> None:
        """Stores what some lanes have.

        Args:
            node: the store.
            memory: the array.
            axes: along each axis, what lanes have more than the block's first.
            ends: the indices of the first lane that takes part, and of the last, i64.
            value: what is stored, in whatever type.
        """
        w, type_, size = self.w, memory_type(memory.dtype), memory.dtype.itemsize
        place, first = self._rows("store", node, memory, axes, ends)
        self.races.check("store", memory, self._part_of(place, first))
        given, some = self.values.in_type(value, memory.dtype), self._part_of(place, first)
        text = "" if given.lanes else self.arithmetic.in_memory(given.text, memory.dtype)
        with some.each() as (lane, at):
            if text:
                what = w.splat(text, type_, ROW)
            else:
                own = w.at(given.lanes, lane, type_)
                what = w.make(f"load <{ROW} x {type_}>, ptr {own}, align 1")
            some.put(what, self.arrays.data(memory), at, type_, size)

    def _part_of(self, place: Place, first: Register) -> PartRows:
        def element(lane: Register) -> Register:
            return self.w.make(f"add i64 {first}, {self.whole.offset(place, lane)}")

        return PartRows(self.context, element, self.masks)

    def _rows(
        self,
        kind: str,
        node: ir.Load | ir.Store,
        memory: Memory,
        axes: Sequence[Lanes],
        ends: Sequence[Sequence[Register]],
    ) -> tuple[Place, Register]:
        """Checks and counts; returns where the block's first lane would stand, in elements."""
        self.context.spend(STEPS_OF_ACCESSES[kind])
        w, place = self.w, self.whole.place(node, memory, axes)
        total, outside = "0", []
        for axis, (low, high) in enumerate(zip(*ends, strict=True)):
            outside += [w.make(f"icmp uge i64 {at}, {memory.shape[axis]}") for at in (low, high)]
            step = w.make(f"mul i64 {low}, {memory.strides[axis]}")
            total = step if total == "0" else w.make(f"add i64 {total}, {step}")
        wrong = outside[0]
        for each in outside[1:]:
            wrong = w.make(f"or i1 {wrong}, {each}")
        self.context.suspect_if(wrong)
        beside = self.whole.offset(place, self.masks.first_lane())
        first = w.make(f"sub i64 {total}, {beside}")
        self._count_rows(kind, node.site.line, place, memory, first)
        return place, first

    def _count_rows(
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

    def _whole(
        self,
        kind: str,
        node: ir.Load | ir.Store,
        memory: Memory,
        axes: Sequence[Lanes],
        indices: Sequence[Register],
    ) -> tuple[Place, Register]:
        self.context.spend(STEPS_OF_ACCESSES[kind])
        place = self.whole.place(node, memory, axes)
        first = self.whole.first(place, memory, indices)
        self.whole.count(kind, node.site.line, place, memory, first)
        return place, first

    def atomic(
        self, node: ir.Call, memory: Memory, indices: Any, operands: Sequence[Value]
    ) -> Value | None:
        """Updates cells lane after lane; returns what lanes found, where somebody asks for it.

        Args:
            node: the call.
            memory: the array.
            indices: a value, or one for each axis.
            operands: one, or two of a compare-and-swap, in whatever type.
        """
        w, name, dtype = self.w, node.path.removeprefix("cuda.atomic."), memory.dtype
        if memory.space == "local":
            raise NotCompiled("an atomic of local memory")
        line = node.site.line if node.site is not None else node.line
        returns = node.used or name in ALWAYS_RETURN
        elements = self._access("atom" if returns else "atomic", line, memory, indices)
        self.arrays.check_written(memory, elements)
        if self.order.shows:
            self.order.check(node, memory, elements)
        type_, data = memory_type(dtype), self.arrays.data(memory)
        here = self.masks.here
        lanes = self.masks.lanes_up_to(here)
        found = self.values.room(dtype) if node.used else ""
        with w.loop(lanes) as lane, w.when(self.masks.takes_part(here, lane)):
            at = w.load(elements, "i64", lane)
            texts = [self.values.converted(each, lane, dtype) for each in operands]
            old = w.load(data, type_, at)
            if found:
                w.store(old, found, type_, lane)
            w.store(self.arithmetic.updated(name, old, texts, dtype), data, type_, at)
        self.arrays.mark_written(memory, elements)
        return Value(dtype, lanes=found) if found else None

    def _access(
        self,
        kind: str,
        line: int,
        memory: Memory,
        indices: Any,
        each_warp: EachWarp | None = None,
        *,
        place: Place | None = None,
        raced: bool = True,
    ) -> Register:
        """Checks and counts an access; returns memory with the element of each lane, i64."""
        # An atomic that tells what it found counts as another kind of traffic, and as nothing else.
        what, kind = kind, "atomic" if kind == "atom" else kind
        self.context.spend(STEPS_OF_ACCESSES[kind])
        elements = self._elements(memory, indices)
        self._account(what, line, memory, elements, each_warp, place)
        if raced:
            self.races.check(kind, memory, Each(self.context, elements, self.masks))
        else:
            self.races.all_written(memory, elements)
        return elements

    def _elements(self, memory: Memory, indices: Any) -> Register:
        """Gives up where an index is out of bounds."""
        w, here, each = self.w, self.masks.here, parts_of(indices)
        if len(each) != len(memory.shape):
            raise NotCompiled("a row of an array")
        elements = w.memory("i64", self.context.lanes)
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(self.masks.lanes_up_to(here)) as lane:
            part = self.masks.takes_part(here, lane)
            total, outside = "0", "false"
            for value, side, stride in zip(each, memory.shape, memory.strides, strict=True):
                at = self.values.converted(value, lane, INT64)
                beyond = w.make(f"icmp uge i64 {at}, {side}")
                outside = beyond if outside == "false" else w.make(f"or i1 {outside}, {beyond}")
                step = at if stride == "1" else w.make(f"mul i64 {at}, {stride}")
                total = step if total == "0" else w.make(f"add i64 {total}, {step}")
            if memory.space == "global":
                origin = self.context.slot(f"origin {memory.name}")
                total = w.make(f"add i64 {total}, {origin}")
            w.store(total, elements, "i64", lane)
            wrong = w.make(f"select i1 {part}, i1 {outside}, i1 false")
            wrong = w.make(f"zext i1 {wrong} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))
        return elements

    def _account(
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

    def _by_shape(
        self,
        places: Register,
        memo: Register,
        bits: str,
        in_a_row: Callable[[Register], None],
        at_one: Callable[[Register], None] | None,
        other: Callable[[Register, str], None],
    ) -> None:
        """Does something with the cells of a warp, quickly where it stands in a row.

        Args:
            places: the elements of its lanes.
            memo: what is kept of its pattern.
            bits: the lanes that take part; "" for all.
            in_a_row: what is done from a first element on.
            at_one: what is done at one element; None for the same as with others.
            other: what is done at <32 x i64> elements, by the lanes of an <32 x i1>.
        """
        w = self.w
        shape = w.load(memo, "i64", str(traffic.SHAPE))
        n = w.number()
        more = f" i64 {traffic.AT_ONE}, label %one{n}" if at_one is not None else ""
        w.do(f"switch i64 {shape}, label %other{n} [i64 {traffic.IN_A_ROW}, label %row{n}{more}]")
        w.lines.append(f"row{n}:")
        in_a_row(w.load(places, "i64"))
        w.do(f"br label %done{n}")
        if at_one is not None:
            w.lines.append(f"one{n}:")
            at_one(w.load(places, "i64"))
            w.do(f"br label %done{n}")
        w.lines.append(f"other{n}:")
        at = w.make(f"load <32 x i64>, ptr {places}, align 8")
        part = w.make(f"bitcast i32 {bits or -1} to <32 x i1>")
        other(at, part)
        w.label(f"done{n}")

    def _splat(self, text: str, type_: str) -> str:
        w, vector = self.w, f"<32 x {type_}>"
        one = w.make(f"insertelement {vector} poison, {type_} {text}, i32 0")
        return w.make(f"shufflevector {vector} {one}, {vector} poison, <32 x i32> zeroinitializer")

    def _bits_of(self, here: Here, warp: Register) -> str:
        return "" if not here.cells else self.w.load(here.bits, "i32", warp)


def _short(dtype: Number) -> str:
    """How intrinsics call a number in memory."""
    return f"{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"


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


def _is_ordered(lanes: Lanes) -> bool:
    """Whether no lane has less than one before it, or none more."""
    steps = np.diff(lanes.more.get((), np.zeros(1, np.int64)))
    return bool((steps >= 0).all() or (steps <= 0).all())
