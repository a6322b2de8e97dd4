"""Memory of PTX: regions of bytes, each seen as cells of every type, and where it was misused.

An address is the number of a region and an offset in it, so an access outside a region hits
nothing and is a fault. Global memory has a region for each array of the launch, shared memory one
for each array of the kernel, local memory one for each array and thread.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

VIEWS = {
    "f32": "f",
    "f64": "d",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "s8": "b",
    "s16": "h",
    "s32": "i",
    "s64": "q",
}
"""Type of a load or store -> how a cell of it is read from bytes; `b32` is read as `u32`."""

GLOBAL_SHIFT = 40
"""Bits of an offset into global memory: region n begins at n << 40, and n is never 0."""
NEAR_SHIFT = 20
"""The same for shared and local memory, whose addresses fit 32 bits."""


class Fault(Exception):
    """A thread did what PTX gives no meaning to; `kind` says what, in the simulator's words."""

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(f"{kind}: {said}")
        self.kind = kind


class Memory:
    """The regions of one state space.

    Attributes:
        regions: number -> its bytes.
        cells: type -> number of a region -> its cells; "u8" has its bytes.
    """

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.regions: list[bytearray] = [bytearray()]
        self.cells: dict[str, list[memoryview]] = {kind: [_NOTHING] for kind in VIEWS}

    def region(self, content: bytes | int) -> int:
        """Returns the address of a new region: with this content, or of so many bytes."""
        data = bytearray(content)
        # A view has whole cells only; what is cut off is reached by narrower ones.
        for kind, letter in VIEWS.items():
            size = int(kind[1:]) // 8
            self.cells[kind].append(memoryview(data)[: len(data) // size * size].cast(letter))
        self.regions.append(data)
        return (len(self.regions) - 1) << self.shift


_NOTHING = memoryview(bytearray())


class Shared(Memory):
    """A block's shared memory, filled with what nobody would compute."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(NEAR_SHIFT)
        for size in sizes:
            self.region(b"\xa5" * size)


class Global(Memory):
    """The arrays of a launch. Each is copied in; `copy_back` writes what became of them."""

    def __init__(self) -> None:
        super().__init__(GLOBAL_SHIFT)
        self._arrays: list[tuple[np.ndarray, int]] = []
        self._known: dict[int, int] = {}

    def array(self, array: np.ndarray) -> int:
        """Returns the address of an array's first cell; the same array has one address."""
        if id(array) not in self._known:
            if not array.flags.c_contiguous:
                raise ValueError("arrays of a launch are contiguous here")
            self._known[id(array)] = self.region(array.tobytes())
            self._arrays.append((array, len(self.regions) - 1))
        return self._known[id(array)]

    def copy_back(self) -> None:
        """Writes the regions into the arrays they were made from."""
        for array, number in self._arrays:
            content = np.frombuffer(bytes(self.regions[number]), array.dtype)
            array[...] = content.reshape(array.shape)


class Watch:
    """Who touched which byte since the last barrier, and which bytes nobody has written yet.

    It looks at shared and global memory. Two accesses of different threads to one byte are a race
    where one of them writes, not both are atomic, and no barrier lies between them. Fences and
    warp barriers are not followed: it is only asked about kernels that have a race.

    Attributes:
        races: where two threads met without an order, one line each.
        unset: where a thread read shared memory before anybody had written it.
    """

    def __init__(self) -> None:
        self.races: list[str] = []
        self.unset: list[str] = []
        self._last: dict[tuple[str, int, int], list[tuple[int, int, str]]] = {}
        self._written: set[tuple[int, int]] = set()

    def touch(
        self, space: str, how: str, address: int, size: int, block: int, thread: int, epoch: int
    ) -> None:
        """Notes an access.

        Args:
            space: "global" or "shared".
            how: "read", "write" or "atomic".
            address, size: where, in bytes.
            block, thread: who.
            epoch: barriers that the block has passed.
        """
        place = block if space == "shared" else -1
        if space == "shared":
            if how != "write" and (block, address) not in self._written:
                self.unset.append(f"{space} {address:#x}, thread {thread} of block {block}")
            if how != "read":
                self._written.add((block, address))
        earlier = self._last.setdefault((space, place, address), [])
        for other_block, other, other_epoch, other_how in earlier:
            same = (other_block, other) == (block, thread)
            ordered = other_block == block and other_epoch != epoch
            harmless = how == other_how and how != "write"
            if not (same or ordered or harmless):
                self.races.append(f"{space} {address:#x}, {other_how} and {how}")
        who = (block, thread, epoch, how)
        if who not in earlier:
            earlier.append(who)
