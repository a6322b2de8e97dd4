"""Loads, stores and atomics: bounds are checked, traffic is counted, and the cells are moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from simt.compiled.facts.affine import Known, Lanes
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.facts.patterns import IN_ROWS, ROW, shape_of
from simt.compiled.writing import traffic
from simt.compiled.writing.accounts import Accounts, EachWarp
from simt.compiled.writing.arithmetic import Number, memory_type
from simt.compiled.writing.arrays import Arrays, Memory
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
from simt.vocabulary.atomics import ALWAYS_RETURN


class Accesses:
    """The places of a function that touch memory.

    Args:
        context, masks, values, arrays, races, order: of the function.
        code: the kernel.
        unraced: its loads from shared memory that nobody can race with, by identity.

    Attributes:
        accounts: what they count.
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
        self.accounts = Accounts(context, masks, whole, code)
        self._unraced = unraced

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
        self.accounts.load_whole(node.site.line, place, memory, first)
        if memory.space == "shared" and id(node) in self._unraced:
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
        self.accounts.store_whole(node.site.line, place, memory, first)
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
        self.accounts.count_rows(kind, node.site.line, place, memory, first)
        return place, first

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
        return place, self.whole.first(place, memory, indices)

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
        self.accounts.count(what, line, memory, elements, each_warp, place)
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


def _is_ordered(lanes: Lanes) -> bool:
    """Whether no lane has less than one before it, or none more."""
    steps = np.diff(lanes.more.get((), np.zeros(1, np.int64)))
    return bool((steps >= 0).all() or (steps <= 0).all())
