"""Runs a launch compiled; what comes of it is handed on only where nothing was suspicious."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.compiled import library, worth
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.jit import Compiled
from simt.compiled.kept import Kept
from simt.compiled.writing import traffic
from simt.compiled.writing.emitter import Emitter
from simt.compiled.writing.text import Writer
from simt.kernel import ir
from simt.machine.launch import blocks_together
from simt.machine.memory import Array
from simt.report import Counters, Dim3, GlobalCounters, SharedCounters
from simt.vocabulary.allocate import local_bytes

MAX_MET = 1 << 20
SHADOWS = ("writers", "readers", "updaters")
MOST_CELLS = 1 << 31
MAX_KERNELS = 64
"""Kept at a time: each is some hundred kilobytes of machine code."""
LANE_STEPS_AT_A_TIME = 1 << 28
"""Blocks are run until so much is done, about a second's worth; then who waits may interrupt."""


@dataclass(eq=False)
class Room:
    """What blocks of a kernel leave behind for the next ones; one launch has it at a time.

    Attributes:
        state: where what a kernel needs lies, but for what a launch hands it.
        alive: the memory that the state tells of.
        shadows: those of shared memory, whose words hold the barrier they were written at.
        dynamic_bytes: dynamic shared memory of a block.
        epoch: the next barrier.
    """

    state: np.ndarray
    alive: list[np.ndarray]
    shadows: list[np.ndarray]
    dynamic_bytes: int
    epoch: int = 1

    def forget(self) -> None:
        """Begins anew: barriers have been counted as far as they can be."""
        for shadow in self.shadows:
            shadow[:] = 0
        self.epoch = 1


def _new_room(emitter: Emitter, dynamic_bytes: int) -> Room:
    """Returns a room in which no launch has been, for so much dynamic shared memory."""
    state = np.zeros(len(emitter.slots) + 1, np.int64)
    room = Room(state, [], [], dynamic_bytes)

    def memory(name: str, cells: np.ndarray) -> np.ndarray:
        if name in emitter.slots:
            room.alive.append(cells)
            state[emitter.slots[name]] = cells.ctypes.data
        return cells

    warps = emitter.warps
    # Patterns and what they cost are the same for all launches.
    memory("memos", np.zeros(emitter.sites * traffic.SITE_WORDS + 1, np.int64))
    memory("tables", np.zeros(warps * 2 * traffic.TABLE, np.int64))
    memory("clocks", np.ones(warps, np.int64))
    for own in emitter.arrays.values():
        if own.space == "local":
            memory(f"data {own.name}", np.zeros(own.cells * emitter.lanes, own.dtype))
            memory(f"unset {own.name}", np.zeros(own.cells * emitter.lanes, np.uint8))
        elif own.space == "shared":
            cells = own.cells or dynamic_bytes // own.dtype.itemsize
            if not own.cells:
                state[emitter.slots[f"shape {own.name} 0"]] = cells
            memory(f"data {own.name}", np.zeros(cells, own.dtype))
            memory(f"left {own.name}", np.zeros(1, np.int64))
            for what in SHADOWS:
                shadow = memory(f"shadow {what} {own.name}", np.zeros(cells, np.int64))
                room.shadows.append(shadow)
    for place in emitter.whole.places:
        if place.table is not None:
            memory(place.slot, place.table)
    for told in emitter.whole.remembered.values():
        memory(told.slot, np.zeros(told.words, np.int64))
    for key in emitter.math:
        loop, given = library.loop(key)
        state[emitter.slots[f"loop {key}"]] = loop
        state[emitter.slots[f"with {key}"]] = given
    return room


@dataclass(eq=False)
class Kernel:
    """A kernel written for a shape of block, and compiled when it is first run.

    Attributes:
        emitter: what its text was written by.
        text: that text.
        rooms: those that no launch has at present. Threads take and give back whole rooms.
    """

    emitter: Emitter
    text: str
    rooms: list[Room] = field(default_factory=list)
    _compiled: Compiled | None = None

    @property
    def is_compiled(self) -> bool:
        """Whether there is machine code for it, its own or that of another with the same text."""
        return self._compiled is not None or _MACHINE_CODE.get(self.text) is not None

    def compiled(self) -> Compiled:
        """Returns its machine code, made if there is none."""
        if self._compiled is None:
            known = _MACHINE_CODE.get(self.text)
            self._compiled = known or _MACHINE_CODE.keep(self.text, Compiled(self.text, "blocks"))
        return self._compiled

    def room(self, dynamic_bytes: int) -> Room:
        """Returns a room that nobody else has, for so much dynamic shared memory."""
        try:
            found = self.rooms.pop()
        except IndexError:
            return _new_room(self.emitter, dynamic_bytes)
        if found.dynamic_bytes != dynamic_bytes:
            return _new_room(self.emitter, dynamic_bytes)
        return found


_KERNELS = Kept(MAX_KERNELS)
_MACHINE_CODE = Kept(MAX_KERNELS)
"""By text: a cell that is run again, or a file that is read again, makes the same once more."""


def kernel_of(code: ir.Code, block: Dim3, unset: frozenset[str]) -> Kernel:
    """Returns a kernel, written; raises NotCompiled."""
    # The code is kept with it: its number is nobody else's so long.
    key = id(code), block, unset
    found = _KERNELS.get(key)
    if found is None:
        try:
            made: Kernel | NotCompiled = _written(code, block, unset)
        except NotCompiled as reason:
            made = reason.with_traceback(None)
        found = _KERNELS.keep(key, (code, made))
    if isinstance(found[1], NotCompiled):
        raise NotCompiled(*found[1].args)
    return found[1]  # type: ignore[no-any-return]


def is_written(number: int, block: Dim3, unset: frozenset[str]) -> bool:
    """Whether a kernel is kept, by the identity of its code."""
    return _KERNELS.get((number, block, unset)) is not None


def forget() -> None:
    """Lets go of all kernels that have been compiled."""
    _KERNELS.found.clear()
    _MACHINE_CODE.found.clear()


def _written(code: ir.Code, block: Dim3, unset: frozenset[str]) -> Kernel:
    emitter = Emitter(code, block, unset)
    text = emitter.text()
    for key in emitter.math:
        try:
            library.loop(key)
        except LookupError:
            raise NotCompiled(f"a function that is found in no library: {key}") from None
    return Kernel(emitter, text + _all_blocks(emitter))


def _all_blocks(emitter: Emitter) -> str:
    """The function that runs blocks, by numbers that it is handed."""
    w = Writer("define i32 @blocks(ptr %state)")
    for name in (
        "order",
        "count",
        "block",
        "blocks before",
        "blocks in a batch",
        "batch",
        "block 0",
        "block 1",
        "block 2",
        "grid 0",
        "grid 1",
        "most steps seen",
        "steps",
    ):
        emitter.number_of(name)

    def word(name: str) -> str:
        return w.at("%state", str(emitter.number_of(name)), "i64")

    order = w.load(word("order"), "ptr")
    with w.loop(w.load(word("count"), "i64")) as turn:
        number = w.load(order, "i64", turn)
        w.store(number, word("block"), "i64")
        nth = w.make(f"add i64 {w.load(word('blocks before'), 'i64')}, {turn}")
        batch = w.make(f"udiv i64 {nth}, {w.load(word('blocks in a batch'), 'i64')}")
        w.store(batch, word("batch"), "i64")
        x, y = w.load(word("grid 0"), "i64"), w.load(word("grid 1"), "i64")
        w.store(w.make(f"urem i64 {number}, {x}"), word("block 0"), "i64")
        rest = w.make(f"udiv i64 {number}, {x}")
        w.store(w.make(f"urem i64 {rest}, {y}"), word("block 1"), "i64")
        w.store(w.make(f"udiv i64 {rest}, {y}"), word("block 2"), "i64")
        end = w.make("call i32 @block(ptr %state)")
        with w.when(w.make(f"icmp ne i32 {end}, 0")):
            w.do(f"ret i32 {end}")
            w.lines.append(f"dead{w.number()}:")
        steps, most = w.load(word("steps"), "i64"), w.load(word("most steps seen"), "i64")
        more = w.make(f"icmp sgt i64 {steps}, {most}")
        larger = w.make(f"select i1 {more}, i64 {steps}, i64 {most}")
        w.store(larger, word("most steps seen"), "i64")
    w.do("ret i32 0")
    return w.text()


def run(
    code: ir.Code,
    grid: Dim3,
    block: Dim3,
    arguments: Mapping[str, Any],
    order: np.ndarray,
    most_steps: int,
    *,
    together: int = 1,
    bounded: bool = False,
    counted: bool = True,
    shuffled: bool = False,
    dynamic_bytes: int = 0,
) -> dict[int, Counters] | None:
    """Runs a launch; returns its counters, or None where something is suspicious.

    Args:
        code: the kernel.
        grid, block: the launch.
        arguments: parameter -> an Array or a NumPy scalar.
        order: the blocks, in the order in which they run.
        most_steps: the step budget, which blocks that the interpreter runs together share.
        together: how many blocks those are.
        bounded: whether it is known that they cannot spend it.
        counted: whether anybody asks for the counters.
        shuffled: whether lanes take their turn at atomics in an order that is drawn.
        dynamic_bytes: dynamic shared memory of a block.

    Raises:
        NotCompiled: something stays with the interpreter.
    """
    arrays = {n: a for n, a in arguments.items() if isinstance(a, Array)}
    check(arrays)
    if counted and code.mixed_widths:
        raise NotCompiled("counts of widths that hang on what lanes agree on")
    unset = frozenset(n for n, a in arrays.items() if a.initialised is not None)
    kernel = kernel_of(code, block, unset)
    if shuffled and kernel.emitter.order.shows:
        raise NotCompiled("an atomic whose order may show, in an order that is drawn")
    emitter, compiled = kernel.emitter, kernel.compiled()
    slots = emitter.slots
    room = kernel.room(dynamic_bytes)
    state = room.state.copy()
    alive: list[np.ndarray] = []

    def put(name: str, value: int) -> None:
        if name in slots:
            state[slots[name]] = value

    def memory(name: str, cells: np.ndarray) -> None:
        if name in slots:
            alive.append(cells)
            state[slots[name]] = cells.ctypes.data

    counters = np.zeros(emitter.counters + 1, np.int64)
    memory("counters", counters)
    order = np.ascontiguousarray(order, np.int64)
    memory("order", order)
    put("most steps", most_steps)
    put("blocks in a batch", blocks_together(block, local_bytes(code.arrays)))
    for axis in range(3):
        put(f"grid {axis}", grid[axis])
    for name, array in arrays.items():
        memory(f"data {name}", array.flat)
        put(f"address {name}", array.address)
        put(f"origin {name}", int(array.origin))
        for axis, (side, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
            put(f"shape {name} {axis}", side)
            put(f"stride {name} {axis}", stride)
        for what in (*SHADOWS, "turns"):
            if f"shadow {what} {name}" in slots:
                memory(f"shadow {what} {name}", np.zeros(array.flat.size, np.int64))
        if array.initialised is not None:
            memory(f"unset {name}", array.initialised.reshape(-1).view(np.uint8))
    for name, value in arguments.items():
        if isinstance(value, np.generic):
            word = np.zeros(8, np.uint8)
            bytes_ = np.frombuffer(value.tobytes(), np.uint8)
            word[: bytes_.size] = bytes_
            put(f"number {name}", int(word.view(np.int64)[0]))
    if room.epoch + order.size * 2 > MAX_MET:
        room.forget()
    words = _words(arrays, arguments)
    for place in emitter.whole.places:
        if place.table is None:
            memory(place.slot, place.filled(words, emitter.threads))
    put("epoch", room.epoch)
    end = first = spent = 0
    while first < order.size and not end:
        at_once = max(1, LANE_STEPS_AT_A_TIME // (emitter.lanes * max(1, spent or most_steps)))
        put("blocks before", first)
        put("order", order[first:].ctypes.data)
        put("count", min(at_once, order.size - first))
        end = compiled.run(state.ctypes.data)
        spent = int(state[slots["most steps seen"]])
        first += at_once
    if end:
        return None  # and nobody gets the room again, in which a block has stopped half way
    room.epoch = int(state[slots["epoch"]])
    if room.epoch >= MAX_MET:
        room.forget()
    kernel.rooms.append(room)
    if spent > most_steps:
        return None
    if not bounded and spent * together > most_steps:
        loops = emitter.context.turns.items()
        turns = {loop: max(int(state[word]) for word in each) for loop, each in loops}
        most = worth.effort(code, grid, block, arguments, turns).most_steps
        if most is None or most > most_steps:
            return None
    return by_line(emitter, counters)


def _words(arrays: Mapping[str, Array], arguments: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of a launch, by name."""
    words: dict[str, int] = {}
    for name, array in arrays.items():
        for axis, (side, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
            words[f"shape {name} {axis}"] = int(side)
            words[f"stride {name} {axis}"] = int(stride)
    for name, value in arguments.items():
        if isinstance(value, np.integer):
            words[f"number {name}"] = int(value)
    return words


def check(arrays: Mapping[str, Array]) -> None:
    """Raises NotCompiled for arrays that no compiled code is handed, whatever the kernel."""
    numbers = {array.allocation.number for array in arrays.values()}
    if len(numbers) < len(arrays):
        raise NotCompiled("arrays that share memory")
    for name, array in arrays.items():
        if array.misaligned or array.fields or array.packed or not array.flat.flags.aligned:
            raise NotCompiled(f"{name} is misaligned, or an array of structures")
        if array.flat.size >= MOST_CELLS:
            raise NotCompiled(f"{name} has more cells than 32 bits can tell apart")
        dense = math.prod(array.shape) == array.flat.size and min(array.strides, default=0) >= 0
        if not dense or (array.flat.size and array.flat.strides != (array.dtype.itemsize,)):
            raise NotCompiled(f"{name} does not lie in one piece")


def by_line(emitter: Emitter, counters: np.ndarray) -> dict[int, Counters]:
    """Returns what was counted, as the interpreter's observers have it."""
    fields: dict[int, dict[str, Any]] = defaultdict(dict)
    for (line, what), at in emitter.counted.items():
        if what.startswith("global_") or what in ("red", "atom"):
            requests, sectors, least, bytes_ = counters[at : at + 4].tolist()
            if requests:
                fields[line][what] = GlobalCounters(requests, sectors, sectors - least, bytes_)
        elif what in ("shared_load", "shared_store"):
            requests, wavefronts, passes = counters[at : at + 3].tolist()
            if requests:
                fields[line][what] = SharedCounters(requests, wavefronts, wavefronts - passes)
        elif counters[at]:
            fields[line][what] = int(counters[at])
    return {line: Counters(**fields[line]) for line in sorted(fields)}
