"""Runs a launch compiled; what comes of it is handed on only where nothing was suspicious."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.compiled import library, traffic
from simt.compiled.analysis import NotCompiled
from simt.compiled.emitter import Emitter
from simt.compiled.jit import Compiled
from simt.compiled.text import Writer
from simt.kernel import ir
from simt.machine.launch import blocks_per_batch
from simt.machine.memory import Array
from simt.report import Counters, Dim3, GlobalCounters, SharedCounters
from simt.vocabulary.allocate import local_bytes

MAX_MET = 1 << 20
PATHS = 61
"""Ways through a kernel that are remembered of a batch; one more is counted again."""


@dataclass(eq=False)
class Kernel:
    """A kernel that has been compiled for a shape of block."""

    emitter: Emitter
    compiled: Compiled
    warps: int
    tables: np.ndarray
    clocks: np.ndarray
    epochs: dict[str, np.ndarray] = field(default_factory=dict)
    epoch: int = 1


def kernel_of(code: ir.Code, block: Dim3, unset: frozenset[str]) -> Kernel:
    """Returns a compiled kernel; raises NotCompiled."""
    kept = _KEPT.setdefault(id(code), (code, {}))[1]
    key = block, unset
    if key not in kept:
        try:
            kept[key] = _compile(code, block, unset)
        except NotCompiled as reason:
            kept[key] = reason
    found = kept[key]
    if isinstance(found, NotCompiled):
        raise found
    return found


_KEPT: dict[int, tuple[ir.Code, dict[Any, Any]]] = {}


def forget() -> None:
    """Lets go of all kernels that have been compiled."""
    _KEPT.clear()


def _compile(code: ir.Code, block: Dim3, unset: frozenset[str]) -> Kernel:
    emitter = Emitter(code, block, unset)
    text = emitter.text()
    compiled = Compiled(text + _all_blocks(emitter), "blocks")
    warps = emitter.warps
    shared = bool(code.static_shared_bytes)
    tables = np.zeros(warps * 2 * traffic.TABLE if shared else 1, np.int64)
    return Kernel(emitter, compiled, warps, tables, np.ones(warps, np.int64))


def _all_blocks(emitter: Emitter) -> str:
    """The function that runs blocks, by numbers that it is handed."""
    w = Writer("define i32 @blocks(ptr %state)")
    for name in (
        "order",
        "count",
        "block",
        "block 0",
        "block 1",
        "block 2",
        "grid 0",
        "grid 1",
        "most steps seen",
        "steps of batch",
        "blocks of batch",
        "per batch",
        "paths",
        "steps",
        "path",
    ):
        emitter.number_of(name)

    def word(name: str) -> str:
        return w.at("%state", str(emitter.number_of(name)), "i64")

    order = w.load(word("order"), "ptr")
    with w.loop(w.load(word("count"), "i64")) as turn:
        number = w.load(order, "i64", turn)
        w.store(number, word("block"), "i64")
        x, y = w.load(word("grid 0"), "i64"), w.load(word("grid 1"), "i64")
        w.store(w.make(f"urem i64 {number}, {x}"), word("block 0"), "i64")
        rest = w.make(f"udiv i64 {number}, {x}")
        w.store(w.make(f"urem i64 {rest}, {y}"), word("block 1"), "i64")
        w.store(w.make(f"udiv i64 {rest}, {y}"), word("block 2"), "i64")
        end = w.make("call i32 @block(ptr %state)")
        with w.when(w.make(f"icmp ne i32 {end}, 0")):
            w.do(f"ret i32 {end}")
            w.lines.append(f"dead{w.number()}:")
        _add_steps(w, word)
    w.do("ret i32 0")
    return w.text()


def _add_steps(w: Writer, word: Callable[[str], str]) -> None:
    """Adds a block's steps to those of its batch, unless one before it has gone the same way.

    The interpreter takes a step for all blocks of a batch together: for blocks that go one way as
    many as for one of them, and for all together at most as many as for those that go ways of
    their own.
    """
    begun = w.load(word("blocks of batch"), "i64")
    paths = w.load(word("paths"), "ptr")
    with w.when(w.make(f"icmp eq i64 {begun}, 0")):
        with w.loop(str(PATHS)) as n:
            w.store("0", paths, "i64", n)
        w.store("0", word("steps of batch"), "i64")
    path = w.load(word("path"), "i64")
    known = w.at(paths, w.make(f"urem i64 {path}, {PATHS}"), "i64")
    new = w.make(f"icmp ne i64 {w.load(known, 'i64')}, {path}")
    with w.when(new):
        w.store(path, known, "i64")
        w.add(w.load(word("steps"), "i64"), word("steps of batch"))
    steps, most = w.load(word("steps of batch"), "i64"), w.load(word("most steps seen"), "i64")
    more = w.make(f"icmp sgt i64 {steps}, {most}")
    w.store(w.make(f"select i1 {more}, i64 {steps}, i64 {most}"), word("most steps seen"), "i64")
    one_more = w.make(f"add i64 {begun}, 1")
    full = w.make(f"icmp eq i64 {one_more}, {w.load(word('per batch'), 'i64')}")
    w.store(w.make(f"select i1 {full}, i64 0, i64 {one_more}"), word("blocks of batch"), "i64")


def run(
    code: ir.Code,
    grid: Dim3,
    block: Dim3,
    arguments: Mapping[str, Any],
    order: np.ndarray,
    most_steps: int,
) -> dict[int, Counters] | None:
    """Runs a launch; returns its counters, or None where something is suspicious.

    Raises:
        NotCompiled: something stays with the interpreter.
    """
    arrays = {n: a for n, a in arguments.items() if isinstance(a, Array)}
    _check(code, arrays)
    unset = frozenset(n for n, a in arrays.items() if a.initialised is not None)
    kernel = kernel_of(code, block, unset)
    emitter = kernel.emitter
    state = np.zeros(len(emitter.slots) + 1, np.int64)
    alive: list[np.ndarray] = []

    def put(name: str, value: int) -> None:
        if name in emitter.slots:
            state[emitter.slots[name]] = value

    def memory(name: str, cells: np.ndarray) -> None:
        alive.append(cells)
        put(name, cells.ctypes.data)

    counters = np.zeros(emitter.counters + 1, np.int64)
    memory("counters", counters)
    memory("memos", np.zeros(emitter.sites * traffic.MEMO_WORDS + 1, np.int64))
    memory("tables", kernel.tables)
    memory("clocks", kernel.clocks)
    order = np.ascontiguousarray(order, np.int64)
    memory("order", order)
    put("count", order.size)
    put("most steps", most_steps)
    put("per batch", blocks_per_batch(block, local_bytes(code.arrays)))
    memory("paths", np.zeros(PATHS, np.int64))
    for axis in range(3):
        put(f"grid {axis}", grid[axis])
    for name, array in arrays.items():
        memory(f"data {name}", array.flat)
        put(f"address {name}", array.address)
        put(f"origin {name}", int(array.origin))
        for axis, (side, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
            put(f"shape {name} {axis}", side)
            put(f"stride {name} {axis}", stride)
        for what in ("writers", "readers", "updaters"):
            if f"shadow {what} {name}" in emitter.slots:
                memory(f"shadow {what} {name}", np.zeros(array.flat.size, np.int64))
        if array.initialised is not None:
            memory(f"unset {name}", array.initialised.reshape(-1).view(np.uint8))
    for name, value in arguments.items():
        if isinstance(value, np.generic):
            word = np.zeros(8, np.uint8)
            bytes_ = np.frombuffer(value.tobytes(), np.uint8)
            word[: bytes_.size] = bytes_
            put(f"number {name}", int(word.view(np.int64)[0]))
    if kernel.epoch + order.size * 2 > MAX_MET:
        kernel.epochs.clear()
        kernel.epoch = 1
    for own in emitter.arrays.values():
        if own.space == "local":
            memory(f"data {own.name}", np.zeros(own.cells * emitter.lanes, own.dtype))
            memory(f"unset {own.name}", np.zeros(own.cells * emitter.lanes, np.uint8))
        if own.space != "shared":
            continue
        memory(f"data {own.name}", np.zeros(own.cells, own.dtype))
        memory(f"left {own.name}", np.zeros(1, np.int64))
        for what in ("writers", "readers", "updaters"):
            name = f"shadow {what} {own.name}"
            cells = kernel.epochs.setdefault(name, np.zeros(own.cells, np.int64))
            memory(name, cells)
    put("epoch", kernel.epoch)
    for name in emitter.math:
        loop, given = library.loop(_NUMPY.get(name, name))
        put(f"loop {name}", loop)
        put(f"with {name}", given)
    end = kernel.compiled.run(state.ctypes.data)
    if "epoch" in emitter.slots:
        kernel.epoch = int(state[emitter.slots["epoch"]]) + (MAX_MET if end else 0)
    if kernel.epoch >= MAX_MET:
        kernel.epochs.clear()
        kernel.epoch = 1
    if end:
        # The clocks are those of the last whole block, and what came after it is in the tables.
        kernel.tables[:] = 0
        kernel.clocks[:] = 1
    late = int(state[emitter.slots["most steps seen"]]) > most_steps
    return None if end or late else by_line(emitter, counters)


_NUMPY: dict[str, str] = {}


def _check(code: ir.Code, arrays: Mapping[str, Array]) -> None:
    numbers = [array.allocation.number for array in arrays.values()]
    if len(set(numbers)) < len(numbers):
        raise NotCompiled("arrays that share memory")
    for name, array in arrays.items():
        if array.misaligned or array.fields or array.packed:
            raise NotCompiled(f"{name} is misaligned, or an array of structures")
        if array.flat.size and array.flat.strides != (array.dtype.itemsize,):
            raise NotCompiled(f"{name} does not lie in one piece")


def by_line(emitter: Emitter, counters: np.ndarray) -> dict[int, Counters]:
    """Returns what was counted, as the interpreter's observers have it."""
    fields: dict[int, dict[str, Any]] = defaultdict(dict)
    for (line, what), at in emitter.counted.items():
        if what.startswith("global_") or what == "red":
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
