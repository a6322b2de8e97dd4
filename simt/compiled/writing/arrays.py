"""Arrays as compiled code finds them: where their cells lie, and which have been written."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.arithmetic import Number, memory_type
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register
from simt.kernel import ir, types
from simt.machine.memory import row_major


@dataclass
class Memory:
    """An array.

    Attributes:
        name: of the argument, or of the array that the kernel makes.
        space: "global", "shared" or "local".
        dtype: of a cell.
        shape, strides: for each axis a constant, or the slot that holds it.
        stored: whether the kernel stores to it.
        cells: how many it has, where the text says so; 0 where the launch does.
        offset: its first byte within the block's shared memory.
    """

    name: str
    space: str
    dtype: Number
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    stored: bool = True
    cells: int = 0
    offset: int = 0


def has_tiles(code: ir.Code) -> bool:
    """Whether a kernel has shared memory."""
    return any(request.space == "shared" for request in code.arrays)


class Arrays:
    """The arrays of a kernel.

    Args:
        context, masks: of the function.
        code: the kernel.
        unset: arguments of which not all cells have been written before the launch.

    Attributes:
        known: those that the kernel has come to: arguments by name, its own by number.
    """

    def __init__(self, context: Context, masks: Masks, code: ir.Code, unset: Set[str]) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.code, self.unset = code, unset
        self.known: dict[str | int, Memory] = {}

    def argument(self, name: str, given: types.ArrayType, own: Any) -> Memory:
        """Returns an array that the launch hands in; raises NotCompiled."""
        if given != own or given.dtype.kind not in "biuf":
            raise NotCompiled(f"{name} is an array of {given.dtype}")
        memory_type(given.dtype)
        self.known[name] = Memory(
            name,
            "global",
            given.dtype,
            tuple(self.context.slot(f"shape {name} {axis}") for axis in range(given.ndim)),
            tuple(self.context.slot(f"stride {name} {axis}") for axis in range(given.ndim)),
            stored=name in self.code.stored,
        )
        return self.known[name]

    def own(self, number: int) -> Memory:
        """Returns an array that the kernel makes, by its place in `Code.arrays`."""
        if number not in self.known:
            asked = self.code.arrays[number]
            memory_type(asked.dtype)
            name, shape = f"own {number}", tuple(map(str, asked.shape))
            if asked.dynamic:
                shape = (self.context.slot(f"shape {name} 0"),)
            memory = Memory(
                name,
                asked.space,
                asked.dtype,
                shape,
                tuple(map(str, row_major(asked.shape))),
                cells=int(np.prod(asked.shape)),
                offset=asked.offset,
            )
            self.known[number] = memory
            if asked.space == "local":
                self._fresh_local(memory)
            else:
                left = self.context.slot(f"left {memory.name}")
                self.w.own.append(f"  store i64 {memory.cells or memory.shape[0]}, ptr {left}")
        return self.known[number]

    def _fresh_local(self, memory: Memory) -> None:
        """At its beginning a block has written no local memory."""
        cells = memory.cells * self.context.lanes
        given = self.context.slot(f"unset {memory.name}")
        self.w.own.append(
            f"  call void @llvm.memset.p0.i64(ptr {given}, i8 0, i64 {cells}, i1 false)"
        )

    def data(self, memory: Memory) -> Register:
        """Returns where the first cell lies."""
        return self.context.slot(f"data {memory.name}")

    def own_cell(self, memory: Memory, element: str, lane: Register) -> str:
        """Local memory lies lane beside lane, so that lanes at one element lie in one piece."""
        if memory.space != "local":
            return element
        first = self.w.make(f"mul i64 {element}, {self.context.lanes}")
        return self.w.make(f"add i64 {first}, {lane}")

    def check_written(self, memory: Memory, elements: Register) -> None:
        """Gives up where global or local memory is read that nobody has written.

        Args:
            memory: the array.
            elements: memory with the element of each lane, i64.
        """
        if memory.space == "local":
            self._check_local(memory, elements)
        elif memory.space == "global" and memory.name in self.unset:
            self._check_bytes(memory, elements)

    def _check_local(self, memory: Memory, elements: Register) -> None:
        w, here = self.w, self.masks.here
        cells, bad = self.context.slot(f"unset {memory.name}"), w.memory("i8")
        w.store("0", bad, "i8")
        with (
            w.loop(self.masks.lanes_up_to(here)) as lane,
            w.when(self.masks.takes_part(here, lane)),
        ):
            at = self.own_cell(memory, w.load(elements, "i64", lane), lane)
            fresh = w.make(f"xor i8 {w.load(cells, 'i8', at)}, 1")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {fresh}"), bad, "i8")
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _check_bytes(self, memory: Memory, elements: Register) -> None:
        w, here = self.w, self.masks.here
        cells, size = self.context.slot(f"unset {memory.name}"), memory.dtype.itemsize
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with (
            w.loop(self.masks.lanes_up_to(here)) as lane,
            w.when(self.masks.takes_part(here, lane)),
        ):
            at = w.make(f"mul i64 {w.load(elements, 'i64', lane)}, {size}")
            with w.loop(str(size)) as byte:
                cell = w.load(cells, "i8", w.make(f"add i64 {at}, {byte}"))
                fresh = w.make(f"zext i1 {w.make(f'icmp eq i8 {cell}, 0')} to i8")
                w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {fresh}"), bad, "i8")
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def mark_written(self, memory: Memory, elements: Register) -> None:
        """Notes that lanes have written global or local memory."""
        w, here = self.w, self.masks.here
        lanes = self.masks.lanes_up_to(here)
        if memory.space == "local":
            cells = self.context.slot(f"unset {memory.name}")
            with w.loop(lanes) as lane, w.when(self.masks.takes_part(here, lane)):
                at = self.own_cell(memory, w.load(elements, "i64", lane), lane)
                w.store("1", cells, "i8", at)
        elif memory.space == "global" and memory.name in self.unset:
            cells, size = self.context.slot(f"unset {memory.name}"), memory.dtype.itemsize
            with w.loop(lanes) as lane, w.when(self.masks.takes_part(here, lane)):
                at = w.make(f"mul i64 {w.load(elements, 'i64', lane)}, {size}")
                with w.loop(str(size)) as byte:
                    w.store("1", cells, "i8", w.make(f"add i64 {at}, {byte}"))
