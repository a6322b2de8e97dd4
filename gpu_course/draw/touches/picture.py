"""The course's signature picture: which thread touches which cell of which array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.execution.footprint import (
    ArrayTouches,
    Footprint,
    Pair,
    count,
    footprint,
    named,
)
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Mark
from gpu_course.draw.paper.layout import dimensions, rows_columns, thread_label
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.touches.condensed import draw_condensed
from gpu_course.draw.touches.contents import Contents, cell_values, short
from gpu_course.draw.touches.flow import draw_flow
from gpu_course.draw.touches.map import draw_map
from simt.report import Report, Touch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_IN_A_ROW = 64
MAX_LINES = 256
MAX_ON_A_SIDE = 9
_PAIRS_SPELLED_OUT = 12
_VALUES_SPELLED_OUT = 16

Arrays = Mapping[str, Any] | Iterable[str] | None


@dataclass(frozen=True)
class Marked:
    """Cells that are not as they should be.

    Attributes:
        array: the name of their array in the kernel.
        cells: their flat numbers, and `mark` what is the matter with them.
    """

    array: str
    cells: frozenset[int]
    mark: str = "wrong"


def draw_touches(
    report: Report,
    arrays: Arrays = None,
    ax: Axes | None = None,
    *,
    follow: int | None = None,
    values: Contents | None = None,
    marked: Marked | None = None,
) -> Figure:
    """Returns the picture of who touches what in one launch.

    Arrays only read stand on one side of the threads, arrays written on the other, so the data
    flows one way. In a row of cells stand the values that were read and written, where they have
    room; else the numbers of the cells. Two-dimensional launches are drawn as grids that share
    labels; large ones as a bar per block and a map per array.

    Args:
        report: of a launch of at most 4,096 lanes.
        arrays: names to draw, or {name: values} to print these in the cells; default all.
        ax: axes to draw on instead of a new figure.
        follow: the number of a thread whose lines stand out, where lines are drawn.
        values: what the cells hold; default what they hold at the end of the launch.
        marked: cells to be marked.
    """
    names = None if arrays is None else list(arrays)
    held = _held(report, arrays, values)
    data = footprint(report, names)
    with p.style():
        if not data.arrays:
            figure = _draw_nothing(data, ax)
        elif _is_flow(data):
            figure = draw_flow(data, held, ax, follow, _as_mark(marked))
        elif _is_map(data):
            figure = draw_map(data, ax, _as_mark(marked))
        else:
            figure = draw_condensed(data, ax)
    said = describe_touches(report, names, values=held if _is_flow(data) else {}, marked=marked)
    return with_alt(figure, said)


def _held(report: Report, arrays: Arrays, values: Contents | None) -> Contents:
    if values is not None:
        return values
    if isinstance(arrays, Mapping):
        flat = {name: np.asarray(each).reshape(-1) for name, each in arrays.items()}
        return {name: dict(enumerate(each)) for name, each in flat.items()}
    return cell_values(report)


def _as_mark(marked: Marked | None) -> Mark:
    return ("", frozenset(), "") if marked is None else (marked.array, marked.cells, marked.mark)


def describe_touches(
    report: Report,
    arrays: Arrays = None,
    *,
    values: Contents | None = None,
    marked: Marked | None = None,
) -> str:
    """Returns in words what `draw_touches` shows."""
    data = footprint(report, None if arrays is None else list(arrays))
    blocks = f"{count(data.blocks, 'block')} of {count(data.block_size, 'thread')}"
    said = [f"Who touches what in {data.call}: {blocks}."]
    for array in data.arrays:
        for verb, pairs in (
            ("reads", array.reads),
            ("writes", array.writes),
            ("updates atomically", array.atomics),
        ):
            if pairs:
                where = f"In that of {array.of}: " if array.of else ""
                said.append(where + _pattern(data, array, verb, pairs))
        if array.contested:
            cells = named("cell", array.contested)
            said.append(f"Written by several threads: {array.name}, {cells}.")
        if array.outside:
            astray = _threads_text(data, (o.thread for o in array.outside))
            said.append(f"Out of bounds in {array.name}: {astray}.")
        if marked is not None and marked.array == array.name and marked.cells:
            cells = named("cell", marked.cells)
            said.append(f"{marked.mark.capitalize()}: {array.name}, {cells}.")
        held = (values or {}).get(array.name, {})
        if 0 < len(held) == array.size <= _VALUES_SPELLED_OUT:
            numbers = ", ".join(short(held[cell]) for cell in range(array.size))
            said.append(f"{array.name} holds {numbers}.")
    idle = set(range(data.threads)) - data.active
    if not data.arrays:
        said.append("No access to an array was recorded.")
    elif idle:
        said.append(f"Idle: {_threads_text(data, idle)}.")
    return " ".join(said)


def _threads_text(data: Footprint, threads: Iterable[int]) -> str:
    numbers = sorted(set(threads))
    if dimensions(data) == 1:
        return named("thread", numbers)
    if len(numbers) <= _PAIRS_SPELLED_OUT:
        return "threads " + "; ".join(thread_label(data, t) for t in numbers)
    return count(len(numbers), "thread")


def _pattern(data: Footprint, array: ArrayTouches, verb: str, pairs: tuple[Pair, ...]) -> str:
    """One sentence: the rule where there is one, else the pairs one by one, else a count."""
    name, shape = array.name, array.shape
    threads = {t for t, _ in pairs}
    rule = _rule(data, array, pairs)
    if rule and len(pairs) > 1:
        return f"Thread {rule[0]} {verb} {rule[1]}, for {count(len(threads), 'thread')}."
    if len(threads) == 1 and len(pairs) > 1 and len(shape) <= 1:
        cells = named("cell", (c for _, c in pairs))
        return f"Thread {thread_label(data, pairs[0][0])} {verb} {cells} of {name}."
    at = [(thread_label(data, t), f"{name}[{_index_text(c, shape)}]") for t, c in pairs]
    if len(pairs) <= _PAIRS_SPELLED_OUT:
        listed = ", ".join(f"thread {thread} {verb} {cell}" for thread, cell in at)
        return listed[0].upper() + listed[1:] + "."
    (first, first_cell), (last, last_cell) = at[0], at[-1]
    return (
        f"Thread {first} {verb} {first_cell}, and so on to thread {last} at {last_cell}:"
        f" {count(len(threads), 'thread')}, {count(len({c for _, c in pairs}), 'cell')},"
        f" {len(pairs):,} accesses."
    )


def _rule(data: Footprint, array: ArrayTouches, pairs: tuple[Pair, ...]) -> tuple[str, str] | None:
    """("i", "a[i + 1]") when all pairs follow one simple rule of the place in the grid."""
    flat = len(array.shape) <= 1
    if dimensions(data) == 1 and flat:
        differences = {c - t for t, c in pairs}
        sums = {c + t for t, c in pairs}
        if len(differences) == 1:
            shift = differences.pop()
            sign = f" {'+' if shift > 0 else '-'} {abs(shift)}" if shift else ""
            return "i", f"{array.name}[i{sign}]"
        if len(sums) == 1:
            return "i", f"{array.name}[{sums.pop()} - i]"
        if all(c % data.threads == t for t, c in pairs):
            return "i", f"{array.name}[i], {array.name}[i + {data.threads}] and so on"
        return None
    places = [(data.place(t), _index(c, array.shape)) for t, c in pairs]
    who = ",".join("xyz"[: dimensions(data)])
    for names in ("x", "y", "xy", "yx", "xyz", "zyx"):
        picked = ["xyz".index(letter) for letter in names]
        if all(tuple(place[k] for k in picked) == index for place, index in places):
            return who, f"{array.name}[{', '.join(names)}]"
    return None


def _index(cell: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index = []
    for extent in reversed(shape):
        cell, here = divmod(cell, extent)
        index.append(here)
    return tuple(reversed(index))


def _index_text(cell: int, shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, _index(cell, shape)))


def _is_flow(data: Footprint) -> bool:
    _, gy, gz = data.launch.grid
    _, by, bz = data.launch.block
    lines = sum(len(a.reads) + len(a.writes) + len(a.atomics) for a in data.arrays)
    return (
        gy == gz == by == bz == 1
        and data.threads <= MAX_IN_A_ROW
        and lines <= MAX_LINES
        and all(len(a.shape) <= 1 and a.size <= MAX_IN_A_ROW for a in data.arrays)
    )


def _is_map(data: Footprint) -> bool:
    grid, block = data.launch.grid, data.launch.block
    across = grid[0] * block[0]
    down = grid[1] * block[1] * grid[2] * block[2]
    extents = [(down, across), *(rows_columns(a.shape) for a in data.arrays)]
    return max(r for r, _ in extents) <= MAX_ON_A_SIDE and max(c for _, c in extents) <= (
        MAX_ON_A_SIDE
    )


def _draw_nothing(data: Footprint, ax: Axes | None) -> Figure:
    from gpu_course.draw.paper.furniture import heading

    figure, axes = p.sheet(6.2, 1.15, ax)
    heading(axes, data, 0.25)
    text = (
        "Accesses are kept for launches of at most 4,096 threads."
        if data.threads > 4096
        else "No thread touched an array."
    )
    axes.text(0.25, 0.85, text, fontsize=p.NORMAL, color=p.INK, va="center")
    return figure


def first_steps(report: Report, steps: int, threads: int | None = None) -> Report:
    """Returns the report as it stood after the first accesses, with every array in its place.

    Args:
        report: of a launch of at most 4,096 lanes.
        steps: how many of `report.touches` have happened.
        threads: how many threads of the last of these are shown; default all.
    """
    done = list(report.touches[:steps])
    if done and threads is not None:
        done[-1] = _first_threads(done[-1], threads)
    rest = (_first_threads(touch, 0) for touch in report.touches[steps:])
    whole = done if threads is None else done[:-1]
    reached = {touch.line for touch in whole}
    hazards = tuple(h for h in report.hazards if h.line in reached)
    return replace(report, hazards=hazards, touches=(*done, *rest))


def _first_threads(touch: Touch, threads: int) -> Touch:
    values = None if touch.values is None else touch.values[:threads]
    return replace(
        touch, threads=touch.threads[:threads], cells=touch.cells[:threads], values=values
    )
