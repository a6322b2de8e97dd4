"""Who touches which cell of a tile between one barrier and the next: where races show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.execution.footprint import count, index_label, named
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import (
    Legend,
    Look,
    cell_text,
    plate_room,
    row_label,
    square,
    title,
)
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CELLS = 32
MAX_CELLS_ALONE = 64
"""Where one interval is drawn alone."""
PER_LINE = 16
WIDE_LINE = 8
"""Cells to a line of an array with rows and columns, whose indices are long."""
MAX_INTERVALS = 10
MAX_IN_VIEW = 3
"""Intervals that are drawn where a view is given."""

_EDGE = 0.3
_LEFT = 1.5
_TOP = 1.15
_ROW = 0.32
_BAR = 0.36
_NUMBERS = 0.28
_DIGIT = 0.078
"""Inches that a digit of the smallest size is wide."""

Touched = dict[int, list[int]]
"""Cell -> the threads of the block that touched it, each once, in order."""


@dataclass
class Interval:
    """What the threads of one block did to one array between two barriers.

    Attributes:
        writes, reads: cell -> threads of the block; an atomic counts as a write.
        barrier: line of the barrier that ends it, 0 for the end of the kernel.
        missing: threads of the block that were not at that barrier.
    """

    writes: Touched = field(default_factory=dict)
    reads: Touched = field(default_factory=dict)
    barrier: int = 0
    missing: tuple[int, ...] = ()

    @property
    def raced(self) -> tuple[int, ...]:
        """Cells that one thread wrote and another touched, with no order between the two."""
        return tuple(
            cell
            for cell, writers in sorted(self.writes.items())
            if len({*writers, *self.reads.get(cell, ())}) > 1
        )


def barrier_intervals(recording: Recording, array: str, block: int = 0) -> tuple[Interval, ...]:
    """Returns what a block did to an array, barrier by barrier; the last interval ends the kernel.

    Args:
        recording: of a launch.
        array: its name in the kernel.
        block: the linear number of the block.

    Raises:
        CourseError: the recorded threads never touched an array of that name.
    """
    if array not in recording.arrays:
        raise CourseError(
            f"{recording.kernel} touches no array {array}",
            f"choose one of {', '.join(recording.arrays)}",
        )
    found = [Interval()]
    everyone = range(recording.threads_per_block)
    for step in recording.steps:
        here = _of_block(step.threads, recording, block)
        for access in step.accesses:
            if access.array == array:
                mine = access.threads // recording.threads_per_block == block
                touched = found[-1].reads if access.kind == "read" else found[-1].writes
                _note(touched, access.cells[mine], access.threads[mine] - block * len(everyone))
        if "barrier" in step.meetings and len(here):
            found[-1].barrier = step.line
            found[-1].missing = tuple(sorted(set(everyone) - set(here)))
            found.append(Interval())
    return tuple(found)


def _of_block(threads: np.ndarray, recording: Recording, block: int) -> list[int]:
    size = recording.threads_per_block
    return [t % size for t in threads.tolist() if t // size == block]


def _note(touched: Touched, cells: Iterable[int], threads: Iterable[int]) -> None:
    for cell, thread in zip(cells, threads, strict=True):
        known = touched.setdefault(int(cell), [])
        if int(thread) not in known:
            known.append(int(thread))


@dataclass(frozen=True)
class View:
    """What of a block's barrier intervals is drawn, where not all has room.

    Attributes:
        cell: a cell that is seen; with its neighbours where an array has more than MAX_CELLS.
        raced: the cells that are known to race; None for those that the intervals tell, which know
            of no order but barriers.
        only_raced: True for the intervals alone in which some cell races, where there are any.
        spare: lines of barriers that could go.
    """

    cell: int = 0
    raced: frozenset[int] | None = None
    only_raced: bool = False
    spare: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Scene:
    """The intervals, cut down to what a view shows.

    Attributes:
        intervals: (number, counted from 1; interval) of those that are drawn.
        raced: for each of them the cells that race.
        lines: the cells that are drawn, line by line.
        all_raced: cells that race, of the whole array and in all intervals.
        count: intervals of the block; `races`, how many cells race in them, added up.
    """

    intervals: tuple[tuple[int, Interval], ...]
    raced: tuple[frozenset[int], ...]
    lines: list[list[int]]
    all_raced: frozenset[int]
    count: int
    races: int

    @property
    def cells(self) -> frozenset[int]:
        """The cells that are drawn."""
        return frozenset(cell for line in self.lines for cell in line)


def _scene(recording: Recording, array: str, block: int, view: View | None) -> _Scene:
    intervals = _worth_drawing(barrier_intervals(recording, array, block))
    shape = recording.arrays[array].shape
    size = int(np.prod(shape, dtype=np.int64))
    known = None if view is None else view.raced
    raced = [
        frozenset(each.raced if known is None else known & set(each.raced)) for each in intervals
    ]
    kept = list(range(len(intervals)))
    if view is None:
        lines = _lines(shape)
        if size > MAX_CELLS or len(intervals) > MAX_INTERVALS:
            raise CourseError(
                f"{array} has {size} cells and {len(intervals)} barrier intervals",
                f"draw a tile of at most {MAX_CELLS} cells and {MAX_INTERVALS} intervals",
            )
    else:
        if view.only_raced and any(raced):
            kept = [number for number in kept if raced[number]][:1]
        elif view.spare:
            about = [n for n in kept if intervals[n].barrier in view.spare]
            first = max(0, about[0] - 1) if about else 0
            kept = kept[first : first + MAX_IN_VIEW]
        else:
            kept = kept[:MAX_IN_VIEW]
        lines = _lines_near(shape, view.cell, alone=len(kept) == 1)
    return _Scene(
        tuple((number + 1, intervals[number]) for number in kept),
        tuple(raced[number] for number in kept),
        lines,
        frozenset(cell for each in raced for cell in each),
        len(intervals),
        sum(map(len, raced)),
    )


def draw_intervals(
    recording: Recording,
    array: str,
    block: int = 0,
    ax: Axes | None = None,
    *,
    view: View | None = None,
) -> Figure:
    """Returns the barrier intervals of a block from top to bottom, with who touched which cell.

    Within an interval nothing is ordered: a cell that one thread writes and another touches is
    a race, and is hatched. Across a barrier everything is.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        array: the name of an array in the kernel; without a view of at most 32 cells.
        block: the linear number of the block.
        ax: axes to draw on instead of a new figure.
        view: what of it is drawn; default all.

    Raises:
        CourseError: no such array, or one too large to draw.
    """
    scene = _scene(recording, array, block, view)
    shape = recording.arrays[array].shape
    spare = frozenset() if view is None else view.spare
    longest = max(map(len, scene.lines))
    column = min(0.5 if longest > WIDE_LINE else 0.68, (p.WIDEST - _LEFT - _EDGE) / longest)
    shown = [each for _, each in scene.intervals]
    # The last barrier of a kernel is worth a line where something is to be said of it.
    cut = scene.intervals[-1][0] < scene.count or shown[-1].barrier in spare
    bars = len(shown) - (not cut)
    foot = 0.62 if _needs_words(scene) else 0.2
    tall = len(scene.lines) * 2 * _ROW + (len(scene.lines) - 1) * _NUMBERS + 0.1
    more = _more(scene)
    height = _TOP + len(shown) * tall + bars * _BAR + foot + 0.24 * bool(more)
    with p.style():
        figure, axes = p.sheet(max(_LEFT + longest * column + _EDGE, 6.6), height, ax)
        legend = Legend()
        threads = count(recording.threads_per_block, "thread")
        title(
            axes,
            _EDGE,
            f"{recording.kernel}: {array}, barrier by barrier",
            f"block {block}, {threads}: {_verdict(scene)}",
            mono=False,
        )
        row_label(axes, _LEFT - 0.12, _TOP - 0.2, "[row, col]" if len(shape) == 2 else "cell")
        y = _TOP
        for place, interval in enumerate(shown):
            for row, line in enumerate(scene.lines):
                y += _NUMBERS if row else 0
                if row or not place:
                    for k, cell in enumerate(line):
                        x = _LEFT + (k + 0.5) * column
                        cell_text(axes, x, y - 0.2 + 0.08 * bool(row), _index(cell, shape), p.QUIET)
                names = (recording, column)
                _draw_interval(axes, interval, line, names, y, legend, scene.raced[place])
                y += 2 * _ROW
            y += 0.1
            if place < bars:
                right = _LEFT + longest * column
                _draw_barrier(axes, interval, right, y + _BAR / 2 - 0.05, spare)
                y += _BAR
        if more:
            axes.text(_LEFT, y + 0.08, more, fontsize=p.SMALL, color=p.QUIET, va="center_baseline")
        legend.draw(axes, _EDGE, height - 0.26)
    return with_alt(figure, describe_intervals(recording, array, block, view=view))


def _more(scene: _Scene) -> str:
    """Returns what is left out below the intervals that are drawn."""
    rest = scene.count - scene.intervals[-1][0]
    return f"... and {count(rest, 'more barrier interval')}" if rest else ""


def describe_intervals(
    recording: Recording, array: str, block: int = 0, *, view: View | None = None
) -> str:
    """Returns in words what `draw_intervals` shows."""
    scene = _scene(recording, array, block, view)
    said = [f"{recording.kernel}: {array} in block {block}, {_verdict(scene)}."]
    cells = scene.cells
    if len(cells) < int(np.prod(recording.arrays[array].shape, dtype=np.int64)):
        said.append(f"Shown {'is' if len(cells) == 1 else 'are'} {named('cell', cells)}.")
    for (number, interval), racing in zip(scene.intervals, scene.raced, strict=True):
        parts = [
            f"{_threads(touched, verb)} {named('cell', touched)}"
            for verb, touched in (("write", interval.writes), ("read", interval.reads))
            if touched
        ]
        raced = f"; raced: {named('cell', racing)}" if racing else ""
        end = f", until the barrier in line {interval.barrier}" if interval.barrier else ""
        if interval.missing:
            are = "is" if len(interval.missing) == 1 else "are"
            end += f", at which {named('thread', interval.missing)} {are} missing"
        if view is not None and interval.barrier in view.spare:
            end += ", which could go"
        said.append(f"Interval {number}: {', '.join(parts) or 'no access'}{raced}{end}.")
    if more := _more(scene):
        said.append(f"{more[4:].capitalize()}.")
    return " ".join(said)


def _worth_drawing(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """All but an empty one at the end, which most kernels with a loop have."""
    last = intervals[-1]
    empty = len(intervals) > 1 and not last.writes and not last.reads
    return intervals[:-1] if empty else intervals


def _verdict(scene: _Scene) -> str:
    among = count(scene.count, "barrier interval")
    return f"{among}, {count(scene.races, 'race') if scene.races else 'no race'}"


def _needs_words(scene: _Scene) -> bool:
    """Whether a legend has something to explain."""
    shared = any(
        len(threads) > 1 and cell in scene.cells
        for _, interval in scene.intervals
        for touched in (interval.writes, interval.reads)
        for cell, threads in touched.items()
    )
    return shared or any(scene.raced)


def _threads(touched: Touched, verb: str) -> str:
    found = {thread for threads in touched.values() for thread in threads}
    return f"{named('thread', found)} {verb}{'s' if len(found) == 1 else ''}"


def _index(cell: int, shape: tuple[int, ...]) -> str:
    index = ", ".join(str(int(i)) for i in np.unravel_index(cell, shape))
    return f"[{index}]" if len(shape) > 1 else index


def _lines(shape: tuple[int, ...]) -> list[list[int]]:
    """The cells line by line, as many to a line as have room for their names."""
    cells = int(np.prod(shape, dtype=np.int64))
    most = PER_LINE if len(shape) < 2 else min(shape[-1], 10)
    return [list(range(first, min(first + most, cells))) for first in range(0, cells, most)]


def _name(recording: Recording, thread: int, column: float) -> str:
    """Returns a thread of the block as messages number it, as far as a column has room for that."""
    x, y, z = recording.launch.block
    longest = len(index_label(x * y * z - 1, (x, y, z))) + 1
    fits = longest * _DIGIT <= column * 0.92
    return index_label(thread, (x, y, z)) if fits else str(thread)


def _lines_near(shape: tuple[int, ...], cell: int, *, alone: bool) -> list[list[int]]:
    """Returns the cells around one, line by line; more of them where an interval stands alone."""
    most = MAX_CELLS_ALONE if alone else MAX_CELLS
    size = int(np.prod(shape, dtype=np.int64))
    cell = max(0, min(cell, size - 1))
    if len(shape) < 2:
        lines = -(-size // PER_LINE)
        first = max(0, min(cell // PER_LINE, lines - most // PER_LINE))
        starts = [line * PER_LINE for line in range(first, min(lines, first + most // PER_LINE))]
        return [list(range(start, min(start + PER_LINE, size))) for start in starts]
    columns = shape[-1]
    rows = size // columns
    row, column = divmod(cell, columns)
    wide, high = min(columns, WIDE_LINE), min(rows, most // 2 // WIDE_LINE)
    left = max(0, min(column - 1, columns - wide))
    top = max(0, min(row, rows - high))
    return [
        list(range(r * columns + left, r * columns + left + wide)) for r in range(top, top + high)
    ]


def _draw_interval(
    axes: Axes,
    interval: Interval,
    cells: list[int],
    names: tuple[Recording, float],
    y: float,
    legend: Legend,
    raced: frozenset[int],
) -> None:
    recording, column = names
    rows: tuple[tuple[str, Touched, Look], ...] = (
        ("written by", interval.writes, p.WRITTEN_CELL),
        ("read by", interval.reads, p.READ_CELL),
    )
    for number, (name, touched, look) in enumerate(rows):
        middle = y + (number + 0.5) * _ROW
        row_label(axes, _LEFT - 0.12, middle, name)
        for k, cell in enumerate(cells):
            threads = touched.get(cell, [])
            own: Look = p.UNTOUCHED_CELL
            if threads:
                own = p.CONTESTED_CELL if cell in raced else look
            if threads and cell in raced:
                legend.add("contested", "race: one thread writes, another touches")
            x = _LEFT + (k + 0.5) * column
            square(axes, x, middle, column * 0.92, own, _ROW * 0.86)
            text = _name(recording, threads[0], column) if threads else ""
            text += "*" * (len(threads) > 1)
            if len(threads) > 1:
                legend.add("star", "and other threads")
            hatched = cell in raced and bool(threads)
            room = plate_room(text, column * 0.92)
            cell_text(axes, x, middle, text, p.INK, plate=hatched, room=room)


def _draw_barrier(
    axes: Axes, interval: Interval, right: float, y: float, spare: frozenset[int]
) -> None:
    whole = not interval.missing
    goes = interval.barrier in spare
    colour = p.INK if whole and not goes else p.CONFLICT
    axes.plot([_EDGE, right], [y, y], color=colour, lw=2.4, linestyle="-" if whole else (0, (3, 2)))
    words = f"barrier, line {interval.barrier}"
    if goes:
        words += ": could go"
    if not whole:
        words += f": {named('thread', interval.missing)} missing"
    box = {"boxstyle": "round,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"}
    axes.text(
        _LEFT, y, words, fontsize=p.SMALL, color=colour, fontweight="bold", va="center", bbox=box
    )
