"""Small launches written down by hand, as the simulator would report them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simt.report import Dim3, Hazard, LaunchShape, Report, Touch

Pairs = Iterable[tuple[int, int]]


def touch(array: str, shape: tuple[int, ...], kind: str, pairs: Pairs, line: int = 3) -> Touch:
    """Returns one access: (thread, flat cell) pairs, cell -1 where it was out of bounds."""
    listed = list(pairs)
    return Touch(
        array,
        shape,
        kind,
        line,
        np.array([thread for thread, _ in listed], np.int64),
        np.array([cell for _, cell in listed], np.int64),
    )


def launch(
    kernel: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    *touches: Touch,
    hazards: tuple[Hazard, ...] = (),
) -> Report:
    """Returns the Report of a launch that made these accesses."""
    g, b = _three(grid), _three(block)
    lanes = int(np.prod(g) * np.prod(b))
    shape = LaunchShape(g, b, -(-lanes // 32), lanes)
    return Report(kernel, "kernels.py", hazards, {}, shape, touches)


def same(count: int) -> list[tuple[int, int]]:
    """Thread i touches cell i."""
    return [(i, i) for i in range(count)]


def _three(extent: tuple[int, ...]) -> Dim3:
    x, y, z = (*extent, 1, 1)[:3]
    return x, y, z


ADD_TEN = launch(
    "add_ten", (1,), (8,), touch("a", (8,), "read", same(8)), touch("out", (8,), "write", same(8))
)
GUARDED = launch(
    "guard", (1,), (12,), touch("a", (8,), "read", same(8)), touch("out", (8,), "write", same(8))
)
ONE_FOR_ALL = launch(
    "add_ten",
    (1,),
    (8,),
    touch("a", (8,), "read", [(2, i) for i in range(8)]),
    touch("out", (8,), "write", [(2, i) for i in range(8)]),
)
ALL_READ_ALL = launch(
    "add_ten",
    (1,),
    (8,),
    touch("a", (8,), "read", [(i, j) for i in range(8) for j in range(8)]),
    touch("out", (8,), "write", same(8)),
)
MISSED = [(i, i if i < 8 else -1) for i in range(12)]
UNGUARDED = launch(
    "guard",
    (1,),
    (12,),
    touch("a", (8,), "read", MISSED),
    touch("out", (8,), "write", MISSED),
    hazards=(
        Hazard(
            "out-of-bounds",
            "error",
            "a[8] is outside an array of shape (8,)",
            "kernels.py",
            3,
            threads=tuple(((0, 0, 0), (i, 0, 0)) for i in range(8, 12)),
            details={
                "array": "a",
                "shape": (8,),
                "access": "load",
                "indices": {8: (8,), 9: (9,), 10: (10,), 11: (11,)},
            },
        ),
    ),
)
BLOCKS = launch(
    "blocks",
    (4,),
    (4,),
    touch("a", (14,), "read", same(14)),
    touch("out", (14,), "write", same(14)),
)
GRID_STRIDE = launch(
    "grid_stride",
    (2,),
    (4,),
    touch("a", (20,), "read", [(i % 8, i) for i in range(20)]),
    touch("out", (20,), "write", [(i % 8, i) for i in range(20)]),
)
REVERSED = launch(
    "gather",
    (2,),
    (8,),
    touch("a", (16,), "read", [(i, 15 - i) for i in range(16)]),
    touch("out", (16,), "write", same(16)),
)
RACE = launch("same_cell", (1,), (8,), touch("out", (8,), "write", [(i, i // 2) for i in range(8)]))
HISTOGRAM = launch(
    "histogram",
    (1,),
    (8,),
    touch("a", (8,), "read", same(8)),
    touch("bins", (4,), "atomic", [(i, i % 2) for i in range(8)]),
)
DENSE = launch(
    "add", (1,), (64,), touch("a", (64,), "read", same(64)), touch("out", (64,), "write", same(64))
)


def _outer(rows: int, columns: int) -> list[tuple[int, int, int]]:
    """(thread, row, column) of a block of (4, 5) threads whose x is the row and y the column."""
    return [(x + 4 * y, x, y) for y in range(5) for x in range(4) if x < rows and y < columns]


BROADCAST = launch(
    "broadcast",
    (1, 1),
    (4, 5),
    touch("a", (3,), "read", [(t, row) for t, row, _ in _outer(3, 4)]),
    touch("b", (4,), "read", [(t, column) for t, _, column in _outer(3, 4)]),
    touch("out", (3, 4), "write", [(t, row * 4 + column) for t, row, column in _outer(3, 4)]),
)
LARGE = launch(
    "add", (5,), (256,), touch("a", (1000,), "read", same(1000)),
    touch("out", (1000,), "write", same(990)),
)  # fmt: skip
WIDE = launch(
    "fill", (2, 2), (8, 8), touch("out", (16, 16), "write", [(i, i) for i in range(0, 256, 2)])
)
UNKNOWN = launch("huge", (1000,), (256,))
EVERY = {
    name: value for name, value in list(globals().items()) if isinstance(value, Report)
}  # name -> Report of every launch above
