"""How a launch and its arrays are laid out on paper: rows and columns, and what threads are called.

The last dimension of an array and x of the grid run across, all else down.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpu_course.draw.execution.footprint import ArrayTouches, Footprint, Outside


def rows_columns(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns how an array is laid out on paper: the last dimension across, all others down.

    >>> rows_columns((5,)), rows_columns((3, 4)), rows_columns((2, 3, 4))
    ((1, 5), (3, 4), (6, 4))
    """
    if not shape:
        return 1, 1
    return int(np.prod(shape[:-1], dtype=np.int64)), int(shape[-1])


def array_title(name: str, shape: tuple[int, ...]) -> str:
    """Returns the name of an array with what its numbers along the edges count.

    >>> array_title("a", (8,)), array_title("tile", (4, 4))
    ('a', 'tile[row, col]')
    """
    return f"{name}[row, col]" if len(shape) == 2 else name


def ghost_place(array: ArrayTouches, outside: Outside) -> tuple[int, int] | None:
    """Returns the row and column beside an array at which a missed access is drawn.

    It is None where the access is unknown or too far off.
    """
    if outside.index is None or len(outside.index) != len(array.shape) or len(array.shape) > 2:
        return None
    rows, columns = rows_columns(array.shape)
    row, column = (0, *outside.index)[-2:]
    near = 0 <= row < rows + 2 and 0 <= column < columns + 2
    return (row, column) if near else None


def thread_label(data: Footprint, thread: int) -> str:
    """Returns the thread's place in the grid as its cell shows it: "x", "x,y" or "x,y,z"."""
    return ",".join(map(str, data.place(thread)[: dimensions(data)]))


def joint_label(data: Footprint, threads: Iterable[int]) -> str:
    """Returns one label for all threads of a cell, "*" where they differ."""
    places = [data.place(t)[: dimensions(data)] for t in threads]
    merged = (
        str(values[0]) if len(set(values)) == 1 else "*" for values in zip(*places, strict=True)
    )
    return ",".join(merged)


def dimensions(data: Footprint) -> int:
    """Returns 1, 2 or 3: how many of x, y, z the launch makes use of."""
    extent = [g * b for g, b in zip(data.launch.grid, data.launch.block, strict=True)]
    return 3 if extent[2] > 1 else 2 if extent[1] > 1 else 1


def thread_extent(data: Footprint) -> tuple[int, int]:
    """Returns the rows and columns that all threads of a launch take."""
    (gx, gy, gz), (bx, by, bz) = data.launch.grid, data.launch.block
    return gy * by * gz * bz, gx * bx


def thread_cell(data: Footprint, thread: int) -> tuple[int, int]:
    """Returns the row and column of one thread."""
    x, y, z = data.place(thread)
    return y + z * data.launch.grid[1] * data.launch.block[1], x
