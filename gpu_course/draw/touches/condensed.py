"""Who touches what in a launch too large for single threads: blocks as bars, arrays as maps."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.execution.footprint import ArrayTouches, Footprint, Pair
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, cell_text, heading, row_label
from gpu_course.draw.paper.layout import array_title, rows_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_BARS = 16
MAX_ROWS = 48
_WRAP = 64
_EDGE = 0.25
_TOP = 0.95
_BAR = 0.2


def draw_condensed(data: Footprint, ax: Axes | None) -> Figure:
    """Returns bars of busy and idle threads per block, and a map cell -> thread for each array.

    Args:
        data: at most 4,096 threads.
        ax: axes to draw on.
    """
    maps = [
        (array, verb, pairs)
        for array in data.arrays
        for verb, pairs in (
            ("read by", array.reads),
            ("written by", (*array.writes, *array.atomics)),
        )
        if pairs
    ]
    left = _EDGE + 0.75
    room = p.WIDEST - left - _EDGE
    bars = min(data.blocks, MAX_BARS)
    y = _TOP + bars * (_BAR + 0.06) + (0.25 if data.blocks > bars else 0.0) + 0.6
    x, tallest, places = left, 0.0, []
    for array, _, _ in maps:
        rows, columns = _layout(array)
        side = _side(data, min(rows, MAX_ROWS), columns, room)
        if x > left and x + columns * side > left + room:
            x, y, tallest = left, y + tallest + 0.75, 0.0
        places.append((x, y, side))
        x += max(columns * side, 0.1 * (len(array.name) + 26)) + 0.5
        tallest = max(tallest, min(rows, MAX_ROWS) * side)
    height = y + tallest + 1.0

    figure, axes = p.sheet(p.WIDEST, height, ax)
    legend = Legend()
    heading(axes, data, _EDGE)
    _draw_bars(axes, data, left, room, bars, legend)
    for (array, verb, pairs), (x, y, side) in zip(maps, places, strict=True):
        _draw_map(axes, data, array, f"{verb} thread", pairs, x, y, side, legend)
    _draw_scale(axes, data, height)
    legend.draw(axes, _EDGE, height - 0.24)
    return figure


def _draw_bars(
    axes: Axes, data: Footprint, left: float, room: float, bars: int, legend: Legend
) -> None:
    from matplotlib.patches import Rectangle

    row_label(axes, left - 0.14, _TOP - 0.16, "blocks")
    numbers = np.fromiter(sorted(data.active), np.int64)
    busy = np.bincount(numbers // data.block_size, minlength=data.blocks)
    wide = min(room - 1.9, 5.2)
    for block in range(bars):
        y = _TOP + block * (_BAR + 0.06)
        split = wide * int(busy[block]) / data.block_size
        row_label(axes, left - 0.14, y + _BAR / 2, str(block))
        axes.add_artist(Rectangle((left, y), split, _BAR, facecolor=p.ACTIVE, linewidth=0))
        axes.add_artist(
            Rectangle(
                (left + split, y),
                wide - split,
                _BAR,
                facecolor=p.IDLE,
                edgecolor=p.RULE,
                linestyle=p.OUTSIDE_DASHES,
                linewidth=1.0 if split < wide else 0.0,
            )
        )
        idle = data.block_size - int(busy[block])
        text = f"{busy[block]} busy" + (f", {idle} idle" if idle else "")
        _quiet(axes, left + wide + 0.12, y + _BAR / 2, text)
    if data.blocks > bars:
        y = _TOP + bars * (_BAR + 0.06) + 0.06
        rest = int((data.block_size - busy[bars:]).sum())
        more = f"and {data.blocks - bars} more blocks, {rest} idle threads among them"
        _quiet(axes, left, y, more)
    legend.add("active", "touches memory")
    if len(data.active) < data.threads:
        legend.add("idle", "idle thread")


def _draw_map(
    axes: Axes,
    data: Footprint,
    array: ArrayTouches,
    words: str,
    pairs: tuple[Pair, ...],
    left: float,
    top: float,
    side: float,
    legend: Legend,
) -> None:
    import matplotlib
    from matplotlib.patches import Rectangle

    rows, columns = _layout(array)
    axes.text(
        left,
        top - (0.36 if len(array.shape) == 2 and min(_layout(array)) > 1 else 0.3),
        array_title(array.name, array.shape) + (f" of {array.of}" if array.of else ""),
        fontsize=p.NORMAL + 1,
        family="monospace",
        fontweight="bold",
        color=p.INK,
        va="center",
    )
    numbered = len(array.shape) == 2 and min(rows, columns) > 1
    if not numbered:
        _quiet(axes, left, top - 0.11, words)
    else:
        named = len(array.name) + (len(array.of) + 4 if array.of else 0)
        _quiet(axes, left + 0.1 * (named + 12), top - 0.36, words)
        _number_edges(axes, left, top, side, min(rows, MAX_ROWS), columns)
    grid, several = _numbers(array, pairs, rows * columns)
    shown = min(rows, MAX_ROWS)
    picture = grid.reshape(rows, columns)[:shown]
    colours = matplotlib.colormaps[p.MAGNITUDE].with_extremes(bad=p.PAPER)
    axes.imshow(
        np.ma.masked_less(picture, 0),
        cmap=colours,
        vmin=0,
        vmax=max(data.threads - 1, 1),
        extent=(left, left + columns * side, top + shown * side, top),
        interpolation="nearest",
        aspect="auto",
        zorder=2,
    )
    limit_x, limit_y = left + columns * side, top + shown * side
    frame = Rectangle((left, top), limit_x - left, limit_y - top, zorder=3)
    frame.set(facecolor="none", edgecolor=p.RULE, linewidth=1.0)
    axes.add_artist(frame)
    cells = range(min(array.size, shown * columns))
    for (row, plain, many), run in groupby(
        cells, key=lambda cell: (cell // columns, grid[cell] >= 0, cell in several)
    ):
        if not plain or many:
            alike = list(run)
            corner = (left + alike[0] % columns * side, top + row * side)
            look, mark, name = _look(many, words)
            legend.add(mark, name)
            look = {**look, "linewidth": 0}
            axes.add_artist(Rectangle(corner, len(alike) * side, side, zorder=3.5, **look))
    if side >= _readable(data):
        for cell in cells:
            if grid[cell] < 0 or cell in several:
                continue
            row, column = divmod(cell, columns)
            ground = colours(grid[cell] / max(data.threads - 1, 1))
            axes.text(
                left + (column + 0.5) * side,
                top + (row + 0.5) * side,
                str(grid[cell]),
                fontsize=p.SMALL,
                color=p.ink_on(ground[:3]),
                ha="center",
                va="center_baseline",
                zorder=4,
            )
    if rows > shown:
        _quiet(axes, left, limit_y + 0.12, f"and {rows - shown} more rows")


def _number_edges(
    axes: Axes, left: float, top: float, side: float, rows: int, columns: int
) -> None:
    """Numbers the rows at the left and the columns above, as many as there is room for."""
    every = next(n for n in (1, 2, 4, 8, 16, 32, 64) if n * side >= 0.22)
    for row in range(0, rows, every):
        cell_text(axes, left - 0.14, top + (row + 0.5) * side, str(row), p.QUIET)
    for column in range(0, columns, every):
        cell_text(axes, left + (column + 0.5) * side, top - 0.11, str(column), p.QUIET)


def _look(several: bool, words: str) -> tuple[dict[str, Any], str, str]:
    """How a cell looks that has no thread or several, and what the legend says of it."""
    if not several:
        return p.UNWRITTEN_CELL, "unwritten", "no thread"
    if words.startswith("read"):
        return p.READ_CELL, "read_cell", "several readers"
    return p.CONTESTED_CELL, "contested", "several writers"


def _layout(array: ArrayTouches) -> tuple[int, int]:
    """Rows and columns on paper: a long vector is wrapped, like text."""
    if len(array.shape) > 1:
        rows, columns = rows_columns(array.shape)
        return rows, columns
    wrap = 16 if array.size <= 256 else _WRAP
    return max(1, -(-array.size // wrap)), min(array.size, wrap)


def _readable(data: Footprint) -> float:
    """The side of a cell, in inches, that holds the largest thread number."""
    return 0.075 * len(str(data.threads - 1)) + 0.05


def _side(data: Footprint, rows: int, columns: int, room: float) -> float:
    readable = _readable(data)
    if columns * readable <= room and rows * readable <= 4.6:
        return min(0.36, room / columns, 4.6 / rows)
    return min(room / columns, 2.6 / rows)


def _numbers(
    array: ArrayTouches, pairs: tuple[Pair, ...], size: int
) -> tuple[np.ndarray, frozenset[int]]:
    """The thread of each cell, -1 where there is none, and the cells that have several."""
    grid = np.full(max(size, array.size), -1, np.int64)
    several = set()
    for thread, cell in pairs:
        if grid[cell] not in (-1, thread):
            several.add(cell)
        grid[cell] = thread
    return grid[:size], frozenset(several)


def _draw_scale(axes: Axes, data: Footprint, height: float) -> None:
    ramp = np.linspace(0, 1, 128)[None, :]
    y = height - 0.66
    axes.imshow(
        ramp, cmap=p.MAGNITUDE, extent=(_EDGE + 0.62, _EDGE + 2.2, y + 0.14, y), aspect="auto"
    )
    _quiet(axes, _EDGE, y + 0.07, "thread 0")
    _quiet(axes, _EDGE + 2.28, y + 0.07, f"thread {data.threads - 1}")
    axes.set_xlim(0, p.WIDEST)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")


def _quiet(axes: Axes, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, fontsize=p.SMALL, color=p.QUIET, va="center")
