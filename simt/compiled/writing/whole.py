"""Accesses in which all lanes of a block take part, each at a known place beside the first one.

Nothing is looked at lane by lane. The bounds of all are those of the lanes with the least and the
most; what all warps cost hangs on where the first byte lies, and stands in a table that is filled
before the launch; and cells are moved in vectors where lanes stand in rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simt.compiled.facts import patterns
from simt.compiled.facts.affine import Affine, Known, Lanes
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.facts.intervals import shared_loads
from simt.compiled.facts.patterns import (
    ALIKE,
    AT_ONES,
    IN_ROWS,
    OTHERS,
    PIECE_BITS,
    PIECE_BYTES,
    ROW,
)
from simt.compiled.writing.arithmetic import memory_type
from simt.compiled.writing.arrays import Arrays, Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.races import Races
from simt.compiled.writing.text import Register
from simt.compiled.writing.touching import Each, Rows
from simt.compiled.writing.values import Value, Values
from simt.kernel import ir
from simt.machine.lanes import WARP
from simt.machine.memory import row_major
from simt.observe.transactions import SECTOR_BYTES

SHAPE, LEAST, COSTS = 0, 1, 8
"""Words of a table: the shape, the least and most along each axis, four numbers for each place."""
OFFSETS = COSTS + 4 * SECTOR_BYTES
"""From here on come the lanes' places beside the first.

For loads from an array that remembers them, a row of warps for each place of the first lane's byte
follows, and then one for each place of the warp's own first byte."""
MAX_AXES = (COSTS - LEAST) // 2
MAX_WIDE = 1 << 22
"""Words in which a shared array remembers what its warps have loaded, at most."""
FAR = 1 << 60
"""No lane stands as far from another."""


@dataclass(eq=False)
class Place:
    """A place of the text that touches memory.

    Attributes:
        number: of the place.
        name: of the array.
        size: bytes of a cell.
        axes: along each axis, what each lane has more than the first.
        strides: along each axis, the words that are multiplied by it.
        table: int64, for shared memory, whose shape is known.
        shape: of shared memory, or -1.
    """

    number: int
    name: str
    size: int
    axes: tuple[Lanes, ...]
    strides: tuple[tuple[str, ...], ...]
    table: np.ndarray | None = None
    shape: int = -1
    offsets: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def slot(self) -> str:
        """What its table is called in the state."""
        return f"place {self.number}"

    def filled(self, words: Mapping[str, int], threads: int) -> np.ndarray:
        """Returns the table of global memory.

        Args:
            words: name -> number of the launch.
            threads: of a block.

        Raises:
            NotCompiled: its cells lie too far apart.
        """
        key = tuple(words[name] for name in self._names)
        table = self._kept.get(key)
        if table is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            table = self._kept[key] = self._fill(words, threads)
        return table

    def __post_init__(self) -> None:
        names = {name for lanes in self.axes for word in lanes.more for name in word}
        names |= {name for stride in self.strides for name in stride}
        self._names = sorted(names)
        self._kept: dict[tuple[int, ...], np.ndarray] = {}

    def _fill(self, words: Mapping[str, int], threads: int) -> np.ndarray:
        table = np.zeros(OFFSETS + threads, np.int64)
        total = np.zeros(threads, np.int64)
        for axis, (lanes, stride) in enumerate(zip(self.axes, self.strides, strict=True)):
            along = _times(lanes, words, 1)
            table[LEAST + 2 * axis] = along.min()
            table[LEAST + 2 * axis + 1] = along.max()
            total += _times(lanes, words, math.prod(words[name] for name in stride))
        table[SHAPE] = patterns.shape_of(total)
        costs = patterns.sectors(total, self.size)
        table[COSTS : COSTS + costs.size] = costs.reshape(-1)
        table[OFFSETS:] = total
        return table


MAX_KEPT = 64
"""Tables of a place that are kept, each for other strides."""


def _times(lanes: Lanes, words: Mapping[str, int], stride: int) -> np.ndarray:
    """int64 (threads,) or 0, what lanes have more, times a stride."""
    total: np.ndarray | int = 0
    for word, each in lanes.more.items():
        factor = math.prod(words[name] for name in word) * stride
        if abs(factor) * int(np.abs(each).max()) > FAR // (4 * len(lanes.more)):
            raise NotCompiled("cells that lie too far apart")
        total = total + each * factor
    return np.asarray(total, np.int64)


@dataclass(frozen=True)
class Remembered:
    """How a shared array remembers what its warps have loaded since memory may have changed.

    A word for each kind of load, each 16 bytes and each warp holds the warp's clock of then.

    Attributes:
        slot: what its memory is called in the state.
        pieces: 16 bytes of the array.
        kinds: of each load, by identity: int64 (places, warps).
        words: how many words it takes.
    """

    slot: str
    pieces: int
    kinds: dict[int, np.ndarray]
    words: int


class Whole:
    """The accesses of whole blocks.

    Args:
        context, values, arrays, races: of the function.
        remembered: shared array -> how it remembers loads, of those arrays that do it so.

    Attributes:
        places: those that there are, by number.
    """

    def __init__(
        self,
        context: Context,
        values: Values,
        arrays: Arrays,
        races: Races,
        remembered: dict[str, Remembered],
    ) -> None:
        self.context, self.w = context, context.w
        self.values, self.arithmetic, self.arrays = values, values.arithmetic, arrays
        self.races, self.remembered = races, remembered
        self.places: list[Place] = []
        self._known: dict[tuple[int, str], Place] = {}

    def place(self, node: ir.Load | ir.Store, memory: Memory, axes: Sequence[Lanes]) -> Place:
        """Returns the place of a load or store."""
        key = id(node), memory.name
        if key not in self._known:
            number = len(self.places)
            strides = tuple(
                () if memory.space == "shared" else (f"stride {memory.name} {axis}",)
                for axis in range(len(axes))
            )
            place = Place(number, memory.name, memory.dtype.itemsize, tuple(axes), strides)
            if memory.space == "shared":
                self._fill_shared(place, node, memory)
            self.places.append(place)
            self._known[key] = place
        return self._known[key]

    def _fill_shared(self, place: Place, node: ir.Load | ir.Store, memory: Memory) -> None:
        threads, warps = self.context.threads, self.context.warps
        total = offsets_of(memory, place.axes, threads)
        place.shape, place.offsets = patterns.shape_of(total), total
        costs = patterns.banks(total, place.size, memory.offset)
        table = np.zeros(OFFSETS + threads + 2 * len(costs) * warps, np.int64)
        for axis, lanes in enumerate(place.axes):
            along = _times(lanes, {}, 1)
            table[LEAST + 2 * axis], table[LEAST + 2 * axis + 1] = along.min(), along.max()
        table[COSTS : COSTS + 4 * len(costs)].reshape(-1, 4)[:, :3] = costs
        table[OFFSETS : OFFSETS + threads] = total
        told = self.remembered.get(memory.name)
        if isinstance(node, ir.Load) and told is not None:
            first = total[:: threads // warps] * place.size
            for number in range(len(costs)):
                own = number * place.size + first
                kind = told.kinds[id(node)][(own % PIECE_BYTES) // place.size, np.arange(warps)]
                row = (kind * told.pieces + (own >> PIECE_BITS)) * warps + np.arange(warps)
                start = OFFSETS + threads + number * warps
                table[start : start + warps] = row
                kind = told.kinds[id(node)][number]
                start += len(costs) * warps
                table[start : start + warps] = kind * told.pieces * warps + np.arange(warps)
        place.table = table

    def table(self, place: Place) -> Register:
        """Returns where the table of a place lies."""
        return self.context.slot(place.slot)

    def first(self, place: Place, memory: Memory, indices: Sequence[Register]) -> Register:
        """Gives up where an index of any lane is out of bounds; returns the first lane's element.

        Args:
            place: the place.
            memory: the array.
            indices: the first lane's index along each axis, i64.
        """
        w, table = self.w, self.table(place)
        outside: list[str] = []
        total = self.context.slot(f"origin {memory.name}") if memory.space == "global" else "0"
        for axis, (at, lanes) in enumerate(zip(indices, place.axes, strict=True)):
            side, stride = memory.shape[axis], memory.strides[axis]
            ends = [at]
            if not lanes.alike:
                known = all(not word for word in lanes.more)
                ends = []
                for number, end in enumerate((np.min, np.max)):
                    if known:
                        more = str(int(end(lanes.more[()])))
                    else:
                        more = w.load(table, "i64", str(LEAST + 2 * axis + number))
                    ends.append(at if more == "0" else w.make(f"add i64 {at}, {more}"))
            outside += [w.make(f"icmp uge i64 {end}, {side}") for end in ends]
            step = at if stride == "1" else w.make(f"mul i64 {at}, {stride}")
            total = step if total == "0" else w.make(f"add i64 {total}, {step}")
        wrong = outside[0]
        for each in outside[1:]:
            wrong = w.make(f"or i1 {wrong}, {each}")
        self.context.suspect_if(wrong)
        return total

    def count(self, kind: str, line: int, place: Place, memory: Memory, first: Register) -> None:
        """Counts the traffic of an access.

        Args:
            kind: "load" or "store".
            line: its line.
            place: the place.
            memory: the array.
            first: the first lane's element.
        """
        w, size = self.w, memory.dtype.itemsize
        byte = w.make(f"mul i64 {first}, {size}")
        whole = SECTOR_BYTES if memory.space == "global" else PIECE_BYTES
        start = byte
        if memory.space == "global":
            start = w.make(f"add i64 {byte}, {self.context.slot(f'address {memory.name}')}")
        shift = size.bit_length() - 1
        number = w.make(f"lshr i64 {w.make(f'and i64 {start}, {whole - 1}')}, {shift}")
        row = w.make(f"add i64 {w.make(f'shl i64 {number}, 2')}, {COSTS}")
        counts = self.context.count(line, f"{memory.space}_{kind}", 4)
        cost = w.at(self.table(place), row, "i64")
        self._add("<4 x i64>", f"load <4 x i64>, ptr {cost}, align 8", counts)
        if memory.space == "shared" and kind == "load":
            self._remember(line, place, memory, byte, number)

    def _add(self, type_: str, what: str, to: Register) -> None:
        w = self.w
        more = w.make(what)
        old = w.make(f"load {type_}, ptr {to}, align 8")
        w.do(f"store {type_} {w.make(f'add {type_} {old}, {more}')}, ptr {to}, align 8")

    def _remember(
        self, line: int, place: Place, memory: Memory, byte: Register, number: Register
    ) -> None:
        """Counts the warps of a load that have not loaded the same 16 bytes before."""
        w, warps, threads = self.w, self.context.warps, self.context.threads
        assert place.table is not None
        rows = place.table[OFFSETS + threads :][: self._rows(place)].reshape(-1, warps)
        loaded = self.context.slot(self.remembered[memory.name].slot)
        piece = w.make(f"ashr i64 {byte}, {PIECE_BITS}")
        moved = w.make(f"mul i64 {piece}, {warps}")
        row = w.make(f"mul i64 {number}, {warps}")
        row = w.make(f"add i64 {row}, {OFFSETS + threads}")
        wide = self.context.count(line, "wide_loads")
        if (rows - rows[:, :1] == np.arange(warps)).all() and warps > 1:
            start = w.make(f"add i64 {w.load(self.table(place), 'i64', row)}, {moved}")
            at, type_ = w.at(loaded, start, "i64"), f"<{warps} x i64>"
            known = w.make(f"load {type_}, ptr {at}, align 8")
            now = w.make(f"load {type_}, ptr {self.context.clocks}, align 8")
            new = w.make(f"icmp ne {type_} {known}, {now}")
            bits = w.make(f"bitcast <{warps} x i1> {new} to i{warps}")
            with w.when(w.make(f"icmp ne i{warps} {bits}, 0")):
                w.do(f"store {type_} {now}, ptr {at}, align 8")
                wider = w.make(f"zext i{warps} {bits} to i64") if warps < 64 else bits
                self.context.declare("declare i64 @llvm.ctpop.i64(i64)")
                w.add(w.make(f"call i64 @llvm.ctpop.i64(i64 {wider})"), wide)
            return
        own = w.at(self.table(place), row, "i64")
        total = w.memory("i64")
        w.store("0", total, "i64")
        with w.loop(str(warps)) as warp:
            at = w.at(loaded, w.make(f"add i64 {w.load(own, 'i64', warp)}, {moved}"), "i64")
            now = w.load(self.context.clocks, "i64", warp)
            new = w.make(f"icmp ne i64 {w.load(at, 'i64')}, {now}")
            w.store(now, at, "i64")
            w.add(w.make(f"zext i1 {new} to i64"), total)
        w.add(w.load(total, "i64"), wide)

    def remember_warp(
        self, place: Place, memory: Memory, element: Register, warp: Register, wide: Register
    ) -> None:
        """Counts a load of one whole warp, if it has not loaded the same 16 bytes before.

        Args:
            place: of the load.
            memory: the array.
            element: of the warp's first lane.
            warp: its number.
            wide: where it is counted.
        """
        w, warps, size = self.w, self.context.warps, place.size
        byte = w.make(f"mul i64 {element}, {size}")
        number = w.make(f"and i64 {byte}, {PIECE_BYTES - 1}")
        number = w.make(f"lshr i64 {number}, {size.bit_length() - 1}")
        row = w.make(f"add i64 {w.make(f'mul i64 {number}, {warps}')}, {warp}")
        kinds = w.at(
            self.table(place), str(OFFSETS + self.context.threads + self._rows(place)), "i64"
        )
        piece = w.make(f"mul i64 {w.make(f'ashr i64 {byte}, {PIECE_BITS}')}, {warps}")
        start = w.make(f"add i64 {w.load(kinds, 'i64', row)}, {piece}")
        at = w.at(self.context.slot(self.remembered[memory.name].slot), start, "i64")
        now = w.load(self.context.clocks, "i64", warp)
        new = w.make(f"icmp ne i64 {w.load(at, 'i64')}, {now}")
        w.store(now, at, "i64")
        w.add(w.make(f"zext i1 {new} to i64"), wide)

    def _rows(self, place: Place) -> int:
        """Words of a table's rows of warps."""
        return max(1, PIECE_BYTES // place.size) * self.context.warps

    def offsets(self, place: Place, lane: Register) -> Register:
        """Returns where it stands by how much lanes are beside the block's first, from one on."""
        return self.w.at(self.w.at(self.table(place), str(OFFSETS), "i64"), lane, "i64")

    def offset(self, place: Place, lane: Register) -> Register:
        """Returns by how many elements a lane stands beside the block's first."""
        return self.w.load(self.offsets(place, lane), "i64")

    def elements(self, place: Place, first: Register) -> Register:
        """Returns memory with the element of each lane, i64."""
        w, offsets = self.w, self.w.at(self.table(place), str(OFFSETS), "i64")
        found = w.memory("i64", self.context.lanes)
        with w.loop(str(self.context.lanes)) as lane:
            w.store(w.make(f"add i64 {first}, {w.load(offsets, 'i64', lane)}"), found, "i64", lane)
        return found

    def touched(self, kind: str, place: Place, memory: Memory, first: Register) -> None:
        """Gives up where an access is not ordered beside another."""
        if not self.races.may_clash(kind, memory):
            return
        for shape in self._shapes(place, IN_ROWS):
            if shape == IN_ROWS:

                def start(row: Register, lane: Register) -> Register:
                    return self.w.make(f"add i64 {first}, {self._offset(place, row, lane)}")

                self.races.check(kind, memory, Rows(self.context, start))
            else:
                elements = self.elements(place, first)
                self.races.check(kind, memory, Each(self.context, elements, self.values.masks))

    def for_warps(self, name: str, cells: Register, more: str = "1") -> None:
        """Sets or adds to an i64 of each warp.

        Args:
            name: "add", or "set".
            cells: memory with it.
            more: the number.
        """
        w, type_ = self.w, f"<{self.context.warps} x i64>"
        given = f"splat (i64 {more})"
        if name == "add":
            old = w.make(f"load {type_}, ptr {cells}, align 8")
            given = w.make(f"add {type_} {old}, {given}")
        w.do(f"store {type_} {given}, ptr {cells}, align 8")

    def sum_of_warps(self, cells: Register) -> str:
        """Returns the sum of an i64 of each warp."""
        warps = self.context.warps
        name = f"llvm.vector.reduce.add.v{warps}i64"
        self.context.declare(f"declare i64 @{name}(<{warps} x i64>)")
        all_ = self.w.make(f"load <{warps} x i64>, ptr {cells}, align 8")
        return self.w.make(f"call i64 @{name}(<{warps} x i64> {all_})")

    def load(self, place: Place, memory: Memory, first: Register) -> Value:
        """Returns what lanes load."""
        w, type_ = self.w, memory_type(memory.dtype)
        data = w.at(self.arrays.data(memory), first, type_)
        if all(lanes.alike for lanes in place.axes):
            text = self.arithmetic.from_memory(w.load(data, type_), memory.dtype)
            return Value(memory.dtype, text)
        cells = w.memory(type_, self.context.lanes)
        for shape in self._shapes(place, IN_ROWS, AT_ONES, ALIKE):
            if shape == OTHERS:
                self._gather(place, data, type_, cells, self.context.lanes)
                continue
            if shape == ALIKE:
                self._gather(place, data, type_, cells, WARP)
                vector = f"<{WARP} x {type_}>"
                got = w.make(f"load {vector}, ptr {cells}, align 8")
                with w.loop(str(self.context.warps)) as warp:
                    own = w.at(cells, w.make(f"mul i64 {warp}, {WARP}"), type_)
                    w.do(f"store {vector} {got}, ptr {own}, align 8")
                continue
            vector = f"<{ROW} x {type_}>"
            with w.loop(str(self.context.lanes // ROW)) as row:
                lane = w.make(f"mul i64 {row}, {ROW}")
                at = w.at(data, self._offset(place, row, lane), type_)
                if shape == IN_ROWS:
                    got = w.make(f"load {vector}, ptr {at}, align 1")
                else:
                    got = w.splat(w.load(at, type_), type_, ROW)
                w.do(f"store {vector} {got}, ptr {w.at(cells, lane, type_)}, align 1")
        return Value(memory.dtype, lanes=cells)

    def _gather(
        self, place: Place, data: Register, type_: str, cells: Register, lanes: int
    ) -> None:
        """Loads what so many lanes ask for, one after the other."""
        w, offsets = self.w, self.w.at(self.table(place), str(OFFSETS), "i64")
        with w.loop(str(lanes)) as lane:
            w.store(w.load(data, type_, w.load(offsets, "i64", lane)), cells, type_, lane)

    def store(self, place: Place, memory: Memory, first: Register, value: Value) -> None:
        """Stores what lanes have, a value of the array's own type."""
        w, type_ = self.w, memory_type(memory.dtype)
        data = w.at(self.arrays.data(memory), first, type_)
        text = "" if value.lanes else self.arithmetic.in_memory(value.text, memory.dtype)
        for shape in self._shapes(place, IN_ROWS):
            if shape != IN_ROWS:
                offsets = w.at(self.table(place), str(OFFSETS), "i64")
                with w.loop(str(self.context.lanes)) as lane:
                    what = text or w.load(value.lanes, type_, lane)
                    w.store(what, data, type_, w.load(offsets, "i64", lane))
                continue
            vector = f"<{ROW} x {type_}>"
            with w.loop(str(self.context.lanes // ROW)) as row:
                lane = w.make(f"mul i64 {row}, {ROW}")
                at = w.at(data, self._offset(place, row, lane), type_)
                if text:
                    what = w.splat(text, type_, ROW)
                else:
                    own = w.at(value.lanes, lane, type_)
                    what = w.make(f"load {vector}, ptr {own}, align 1")
                w.do(f"store {vector} {what}, ptr {at}, align 1")

    def _offset(self, place: Place, row: Register, lane: Register) -> str:
        """Where a row begins beside the first lane."""
        starts = place.offsets[::ROW]
        step = int(starts[1] - starts[0]) if starts.size else 0
        if starts.size and (starts == np.arange(starts.size) * step).all():
            return self.w.make(f"mul i64 {row}, {step}")
        offsets = self.w.at(self.table(place), str(OFFSETS), "i64")
        return self.w.load(offsets, "i64", lane)

    def _shapes(self, place: Place, *special: int) -> Iterator[int]:
        """Gives the shapes that a place may have; what is written then is done for that one.

        Args:
            place: the place.
            special: the shapes that are told apart; all that is none of them is OTHERS.
        """
        if place.table is not None:
            yield place.shape if place.shape in special else OTHERS
            return
        w, n = self.w, self.w.number()
        shape = w.load(self.table(place), "i64", str(SHAPE))
        ways = " ".join(f"i64 {each}, label %shape{each}of{n}" for each in special)
        w.do(f"switch i64 {shape}, label %shape{OTHERS}of{n} [{ways}]")
        for each in (*special, OTHERS):
            w.lines.append(f"shape{each}of{n}:")
            yield each
            w.do(f"br label %moved{n}")
        w.lines.append(f"moved{n}:")


def remembering(code: ir.Code, affine: Affine, threads: int) -> dict[str, Remembered]:
    """Returns the shared arrays of which it is known where all loads stand, whoever takes part."""
    found: dict[str, Remembered] = {}
    if threads % WARP:
        return found
    for number, loads in shared_loads(code).items():
        asked = code.arrays[number]
        if asked.dynamic:
            continue
        size, strides = asked.dtype.itemsize, row_major(asked.shape)
        offsets = []
        for load in loads:
            axes = affine.of(load.index)
            axes = axes if isinstance(axes, tuple) else (axes,)
            parts = load.index.parts if isinstance(load.index, ir.Tuple) else (load.index,)
            if not all(isinstance(part.type, np.dtype) for part in parts):
                break  # `tile[a, b] += 1` works its index out once, and keeps it as one tuple
            if not are_known("shared", axes, len(asked.shape)):
                break
            offsets.append(_offsets(axes, strides, threads))
        else:
            told = patterns.pieces(offsets, size)
            pieces = -(-asked.size // PIECE_BYTES) + 1
            words = told.kinds * pieces * (threads // WARP)
            if words <= MAX_WIDE:
                kinds = {id(load): own for load, own in zip(loads, told.of_warp, strict=True)}
                found[f"own {number}"] = Remembered(f"loaded own {number}", pieces, kinds, words)
    return found


def offsets_of(memory: Memory, axes: Sequence[Lanes], threads: int) -> np.ndarray:
    """Returns int64 (threads,), where the lanes of an access to shared memory stand."""
    return _offsets(axes, [int(stride) for stride in memory.strides], threads)


def _offsets(axes: Sequence[Lanes], strides: Sequence[int], threads: int) -> np.ndarray:
    total = np.zeros(threads, np.int64)
    for lanes, stride in zip(axes, strides, strict=True):
        total = total + _times(lanes, {}, stride)
    return total


def are_known(space: str, axes: Sequence[Known], ndim: int) -> bool:
    """Whether it can be said before a launch where lanes stand beside the first."""
    if not 0 < len(axes) <= MAX_AXES or len(axes) != ndim:
        return False
    for lanes in axes:
        if not isinstance(lanes, Lanes) or (space == "shared" and any(lanes.more)):
            return False
    return space in ("shared", "global")
