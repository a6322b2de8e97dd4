"""Who touches which cell of a tile between one barrier and the next: where races show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.execution.footprint import count, ranges
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CELLS = 32
PER_LINE = 16
MAX_INTERVALS = 10

_EDGE = 0.3
_LEFT = 1.5
_TOP = 1.15
_ROW = 0.32
_BAR = 0.36
_NUMBERS = 0.28

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


def draw_intervals(
    recording: Recording, array: str, block: int = 0, ax: Axes | None = None
) -> Figure:
    """Returns the barrier intervals of a block from top to bottom, with who touched which cell.

    Within an interval nothing is ordered: a cell that one thread writes and another touches is
    a race, and is hatched. Across a barrier everything is.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        array: the name of an array in the kernel, of at most 32 cells.
        block: the linear number of the block.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: no such array, or one too large to draw.
    """
    intervals = _worth_drawing(barrier_intervals(recording, array, block))
    shape = recording.arrays[array].shape
    cells = int(np.prod(shape, dtype=np.int64))
    if cells > MAX_CELLS or len(intervals) > MAX_INTERVALS:
        raise CourseError(
            f"{array} has {cells} cells and {len(intervals)} barrier intervals",
            f"draw a tile of at most {MAX_CELLS} cells and {MAX_INTERVALS} intervals",
        )
    lines = _lines(shape)
    longest = max(map(len, lines))
    column = min(0.5, (p.WIDEST - _LEFT - _EDGE) / longest)
    bars = len(intervals) - 1
    foot = 0.62 if any(map(_needs_words, intervals)) else 0.2
    tall = len(lines) * 2 * _ROW + (len(lines) - 1) * _NUMBERS + 0.1
    height = _TOP + len(intervals) * tall + bars * _BAR + foot
    with p.style():
        figure, axes = p.sheet(max(_LEFT + longest * column + _EDGE, 6.6), height, ax)
        legend = Legend()
        threads = count(recording.threads_per_block, "thread")
        second = f"block {block}, {threads}: {_verdict(intervals)}"
        title(
            axes,
            _EDGE,
            f"{recording.kernel}: {array}, barrier by barrier",
            second,
            mono=False,
        )
        row_label(axes, _LEFT - 0.12, _TOP - 0.2, "[row, col]" if len(shape) == 2 else "cell")
        y = _TOP
        for number, interval in enumerate(intervals):
            for place, line in enumerate(lines):
                y += _NUMBERS if place else 0
                if place or not number:
                    for k, cell in enumerate(line):
                        x = _LEFT + (k + 0.5) * column
                        cell_text(
                            axes, x, y - 0.2 + 0.08 * bool(place), _index(cell, shape), p.QUIET
                        )
                _draw_interval(axes, interval, line, column, y, legend)
                y += 2 * _ROW
            y += 0.1
            if number < bars:
                _draw_barrier(axes, interval, _LEFT + longest * column, y + _BAR / 2 - 0.05)
                y += _BAR
        legend.draw(axes, _EDGE, height - 0.26)
    return with_alt(figure, describe_intervals(recording, array, block))


def describe_intervals(recording: Recording, array: str, block: int = 0) -> str:
    """Returns in words what `draw_intervals` shows."""
    intervals = _worth_drawing(barrier_intervals(recording, array, block))
    said = [f"{recording.kernel}: {array} in block {block}, {_verdict(intervals)}."]
    for number, interval in enumerate(intervals, 1):
        parts = [
            f"{_threads(touched)} {verb} cells {ranges(touched)}"
            for verb, touched in (("write", interval.writes), ("read", interval.reads))
            if touched
        ]
        raced = f"; raced: cells {ranges(interval.raced)}" if interval.raced else ""
        end = f", until the barrier in line {interval.barrier}" if interval.barrier else ""
        if interval.missing:
            end += f", at which threads {ranges(interval.missing)} are missing"
        said.append(f"Interval {number}: {', '.join(parts) or 'no access'}{raced}{end}.")
    return " ".join(said)


def _worth_drawing(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """All but an empty one at the end, which most kernels with a loop have."""
    last = intervals[-1]
    empty = len(intervals) > 1 and not last.writes and not last.reads
    return intervals[:-1] if empty else intervals


def _verdict(intervals: tuple[Interval, ...]) -> str:
    raced = sum(len(interval.raced) for interval in intervals)
    among = count(len(intervals), "barrier interval")
    return f"{among}, {count(raced, 'race') if raced else 'no race'}"


def _needs_words(interval: Interval) -> bool:
    """Whether a legend has something to explain in an interval."""
    shared = any(
        len(t) > 1 for touched in (interval.writes, interval.reads) for t in touched.values()
    )
    return shared or bool(interval.raced)


def _threads(touched: Touched) -> str:
    found = sorted({thread for threads in touched.values() for thread in threads})
    return f"thread {found[0]}" if len(found) == 1 else f"threads {ranges(found)}"


def _index(cell: int, shape: tuple[int, ...]) -> str:
    index = ", ".join(str(int(i)) for i in np.unravel_index(cell, shape))
    return f"[{index}]" if len(shape) > 1 else index


def _lines(shape: tuple[int, ...]) -> list[list[int]]:
    """The cells line by line, as many to a line as have room for their names."""
    cells = int(np.prod(shape, dtype=np.int64))
    most = PER_LINE if len(shape) < 2 else min(shape[-1], 10)
    return [list(range(first, min(first + most, cells))) for first in range(0, cells, most)]


def _draw_interval(
    axes: Axes, interval: Interval, cells: list[int], column: float, y: float, legend: Legend
) -> None:
    raced = set(interval.raced)
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
            text = f"{threads[0]}" + "*" * (len(threads) > 1) if threads else ""
            if len(threads) > 1:
                legend.add("star", "and other threads")
            cell_text(axes, x, middle, text, p.INK, plate=cell in raced and bool(threads))


def _draw_barrier(axes: Axes, interval: Interval, right: float, y: float) -> None:
    whole = not interval.missing
    colour = p.INK if whole else p.CONFLICT
    axes.plot([_EDGE, right], [y, y], color=colour, lw=2.4, linestyle="-" if whole else (0, (3, 2)))
    words = f"barrier, line {interval.barrier}"
    if not whole:
        words += f": {'thread' if len(interval.missing) == 1 else 'threads'} "
        words += f"{ranges(interval.missing)} missing"
    box = {"boxstyle": "round,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"}
    axes.text(
        _LEFT, y, words, fontsize=p.SMALL, color=colour, fontweight="bold", va="center", bbox=box
    )
