"""Who touched what in a launch, sorted by array: the plain data under several pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simt.report import Dim3, Hazard, LaunchShape, Report

Pair = tuple[int, int]
"""(thread number in the launch, flat cell number)."""


@dataclass(frozen=True)
class Outside:
    """One access beyond an array: the thread, read or write, and the index where it is known."""

    thread: int
    kind: str
    index: tuple[int, ...] | None = None

    @property
    def label(self) -> str:
        """The index as a learner writes it, "?" where nobody recorded it."""
        return "?" if self.index is None else ",".join(map(str, self.index))


@dataclass(frozen=True)
class ArrayTouches:
    """Everything the threads of one launch did to one array, each pair once, in order.

    Attributes:
        name, shape: of the array.
        reads, writes, atomics: (thread, flat cell) pairs.
        outside: the accesses that missed the array.
        is_written: True when the kernel stores to it somewhere.
        of: "block 0" or "thread 0" where each has an array of its own by this name, and only that
            one's is told; else "".
    """

    name: str
    shape: tuple[int, ...]
    reads: tuple[Pair, ...] = ()
    writes: tuple[Pair, ...] = ()
    atomics: tuple[Pair, ...] = ()
    outside: tuple[Outside, ...] = ()
    is_written: bool = False
    of: str = ""

    @property
    def size(self) -> int:
        """Cells in the array."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def contested(self) -> frozenset[int]:
        """Cells that several threads wrote with plain stores."""
        writers: dict[int, set[int]] = {}
        for thread, cell in self.writes:
            writers.setdefault(cell, set()).add(thread)
        return frozenset(cell for cell, threads in writers.items() if len(threads) > 1)

    def threads(self) -> set[int]:
        """Returns the numbers of all threads that touched the array or missed it."""
        pairs = (*self.reads, *self.writes, *self.atomics)
        return {t for t, _ in pairs} | {o.thread for o in self.outside}


@dataclass(frozen=True)
class Footprint:
    """A launch and what it touched.

    Attributes:
        kernel: its name.
        launch: the LaunchShape.
        arrays: in the order in which the launch first touched them.
        active: numbers of the threads that touched memory, or tried to.
    """

    kernel: str
    launch: LaunchShape
    arrays: tuple[ArrayTouches, ...]
    active: frozenset[int]

    @property
    def block_size(self) -> int:
        """Threads in one block."""
        x, y, z = self.launch.block
        return x * y * z

    @property
    def blocks(self) -> int:
        """Blocks in the grid."""
        x, y, z = self.launch.grid
        return x * y * z

    @property
    def threads(self) -> int:
        """Threads in the whole launch."""
        return self.blocks * self.block_size

    @property
    def astray(self) -> frozenset[int]:
        """Numbers of the threads that missed an array."""
        return frozenset(o.thread for array in self.arrays for o in array.outside)

    def place(self, thread: int) -> Dim3:
        """Returns the place of a thread in the whole grid: what cuda.grid(3) gives it."""
        block, inside = divmod(thread, self.block_size)
        b = _unravel(block, self.launch.grid)
        t = _unravel(inside, self.launch.block)
        x, y, z = (bi * n + ti for bi, n, ti in zip(b, self.launch.block, t, strict=True))
        return x, y, z

    @property
    def call(self) -> str:
        """The launch as it is written, such as "guard[1, 12]"."""
        return f"{self.kernel}[{dim_text(self.launch.grid)}, {dim_text(self.launch.block)}]"


def footprint(report: Report, names: Iterable[str] | None = None, *, block: int = 0) -> Footprint:
    """Returns the Footprint of a launch.

    Args:
        report: of a launch of at most 4,096 lanes; a larger one holds no touches.
        names: leave out all other arrays; default all.
        block: of which block, by its number, the arrays in shared memory are told.
    """
    wanted = None if names is None else set(names)
    found: dict[str, _Collected] = {}
    active: set[int] = set()
    for touch in report.touches:
        array = found.setdefault(touch.array, _Collected(tuple(touch.shape)))
        array.is_written |= touch.kind != "read"
        threads = touch.threads.tolist()
        if wanted is None or touch.array in wanted:
            active.update(threads)
        owners, array.of = _owners(report.launch, touch.space, block)
        pairs = array.pairs[touch.kind]
        for thread, cell in zip(threads, touch.cells.tolist(), strict=True):
            if thread not in owners:
                continue
            if cell < 0:
                array.outside.setdefault((thread, touch.kind), None)
            else:
                pairs[thread, cell] = None
    for hazard in report.hazards:
        if hazard.kind == "out-of-bounds" and "access" in hazard.details:
            _add_missed(found, hazard, report.launch)
    arrays = tuple(
        array.finished(name) for name, array in found.items() if wanted is None or name in wanted
    )
    active.update(t for array in arrays for t in array.threads())
    return Footprint(report.kernel, report.launch, arrays, frozenset(active))


def _owners(launch: LaunchShape, space: str, block: int) -> tuple[range, str]:
    """Returns which threads share the array of a space that is told, and who they are."""
    x, y, z = launch.block
    gx, gy, gz = launch.grid
    if space == "shared" and gx * gy * gz > 1:
        first = block * x * y * z
        return range(first, first + x * y * z), f"block {block}"
    if space == "local" and launch.lanes > 1:
        return range(1), "thread 0"
    return range(launch.lanes), ""


class _Collected:
    """One array while the accesses to it are gathered; dicts stand for ordered sets."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.pairs: dict[str, dict[Pair, None]] = {"read": {}, "write": {}, "atomic": {}}
        self.outside: dict[tuple[int, str], tuple[int, ...] | None] = {}
        self.is_written = False
        self.of = ""

    def finished(self, name: str) -> ArrayTouches:
        reads, writes, atomics = (tuple(self.pairs[k]) for k in ("read", "write", "atomic"))
        outside = tuple(Outside(t, kind, index) for (t, kind), index in self.outside.items())
        written = self.is_written
        return ArrayTouches(name, self.shape, reads, writes, atomics, outside, written, self.of)


_KINDS = {"load": "read", "store": "write", "atomic": "atomic"}


def _add_missed(found: dict[str, _Collected], hazard: Hazard, shape: LaunchShape) -> None:
    """Adds the threads a hazard names, with the indices they tried as far as it recorded them."""
    details = hazard.details
    array = found.setdefault(details["array"], _Collected(tuple(details["shape"])))
    kind = _KINDS[details["access"]]
    array.is_written |= kind != "read"
    tried = details.get("indices", {})
    per_block = shape.block[0] * shape.block[1] * shape.block[2]
    for block, thread in hazard.threads:
        number = linear(block, shape.grid) * per_block + linear(thread, shape.block)
        index = tried.get(number)
        array.outside[number, kind] = None if index is None else tuple(map(int, index))


def linear(place: Dim3, extent: Dim3) -> int:
    """Returns the number of a place in an extent, x running fastest.

    >>> linear((1, 2, 0), (4, 3, 1))
    9
    """
    return place[0] + extent[0] * (place[1] + extent[1] * place[2])


def index_label(number: int, extent: Dim3) -> str:
    """Returns the index of a thread in its block, or of a block in its grid, as pictures show it.

    A flat one has a number alone, as in messages.

    >>> index_label(9, (64, 1, 1)), index_label(9, (4, 4, 1)), index_label(9, (2, 2, 4))
    ('9', '1,2', '1,0,2')
    """
    axes = 3 if extent[2] > 1 else 2 if extent[1] > 1 else 1
    return ",".join(map(str, _unravel(number, extent)[:axes]))


def _unravel(number: int, extent: Dim3) -> Dim3:
    rest, x = divmod(number, extent[0])
    z, y = divmod(rest, extent[1])
    return x, y, z


def dim_text(extent: Dim3) -> str:
    """Returns a grid or block as it is written in a launch.

    >>> dim_text((4, 1, 1)), dim_text((2, 3, 1))
    ('4', '(2, 3)')
    """
    x, y, z = extent
    if z != 1:
        return f"({x}, {y}, {z})"
    return f"({x}, {y})" if y != 1 else f"{x}"


def ranges(numbers: Iterable[int]) -> str:
    """Returns whole numbers as a reader lists them.

    >>> ranges([0, 1, 2, 3, 7, 9, 10])
    '0 to 3, 7, 9, 10'
    """
    parts: list[str] = []
    run: list[int] = []

    def close() -> None:
        if len(run) > 2:
            parts.append(f"{run[0]} to {run[-1]}")
        else:
            parts.extend(map(str, run))

    for n in sorted(set(numbers)):
        if run and n != run[-1] + 1:
            close()
            run = []
        run.append(n)
    close()
    return ", ".join(parts)


def named(noun: str, numbers: Iterable[int]) -> str:
    """Returns what is meant by its number, or several by theirs.

    >>> named("cell", [5]), named("cell", [0, 1, 2, 3, 7])
    ('cell 5', 'cells 0 to 3, 7')
    """
    each = set(numbers)
    return f"{noun if len(each) == 1 else noun + 's'} {ranges(each)}"


def count(number: int, noun: str) -> str:
    """Returns a number with its noun: 1 thread, 1,024 threads.

    >>> count(1, "thread"), count(1024, "thread")
    ('1 thread', '1,024 threads')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
