"""A reduction as it ran: which thread added which cells in each step, and who stood idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count, ranges
from gpu_course.draw.execution.intervals import Interval, barrier_intervals
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import WARP, Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CELLS = 16
MAX_THREADS = 256

_EDGE = 0.25
_LEFT = 0.95
_RIGHT = 1.35
_TOP = 0.98
_STEP = 0.72
_BOX = 0.27
_ROW = 0.34


@dataclass(frozen=True)
class Added:
    """One addition: the thread, the cell it wrote, and the cells it read for it."""

    thread: int
    cell: int
    read: tuple[int, ...]


def reduction_steps(
    recording: Recording, array: str, block: int = 0
) -> tuple[tuple[Added, ...], ...]:
    """Returns what the threads of a block wrote to an array, barrier by barrier.

    The first step is the filling of the array, where nothing is read from it. Intervals in which
    nothing is written are left out.

    Raises:
        CourseError: the recorded threads never touched an array of that name.
    """
    found = (_added(interval) for interval in barrier_intervals(recording, array, block))
    return tuple(step for step in found if step)


def _added(interval: Interval) -> tuple[Added, ...]:
    read: dict[int, list[int]] = {}
    for cell, threads in interval.reads.items():
        for thread in threads:
            read.setdefault(thread, []).append(cell)
    pairs = sorted((t, cell) for cell, threads in interval.writes.items() for t in threads)
    return tuple(Added(t, cell, tuple(sorted(read.get(t, ())))) for t, cell in pairs)


def draw_tree(
    recording: Recording, array: str, upto: int | None = None, ax: Axes | None = None
) -> Figure:
    """Returns a reduction as a tree that grows downwards, from the accesses of one block.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        array: the name of an array in the kernel, of at most 16 cells.
        upto: how many steps after the filling are shown; default all.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: no such array, or one too large to draw.
    """
    steps = reduction_steps(recording, array)
    cells = _size(recording, array)
    if cells > MAX_CELLS:
        raise CourseError(
            f"{array} has {cells} cells", f"draw a tree over at most {MAX_CELLS} of them"
        )
    shown = steps if upto is None else steps[: upto + 1]
    column = (p.WIDEST - _LEFT - _RIGHT) / cells
    height = _TOP + (len(steps) - 1) * _STEP + 0.42
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(
            axes,
            _EDGE,
            f"{recording.kernel}: who adds what",
            f"block 0, {count(recording.threads_per_block, 'thread')}; the number in a cell is "
            "the thread that wrote it",
            mono=False,
        )
        for number, step in enumerate(shown):
            y = _TOP + number * _STEP
            name = "filled" if number == 0 else f"step {number}"
            row_label(axes, _LEFT - 0.14, y, name)
            _draw_step(axes, step, cells, column, y, last=number == len(shown) - 1)
            _say_who_works(axes, step, recording, y)
    return with_alt(figure, describe_tree(recording, array, upto))


def _size(recording: Recording, array: str) -> int:
    size = 1
    for side in recording.arrays[array].shape:
        size *= int(side)
    return size


def _x(cell: int, column: float) -> float:
    return _LEFT + (cell + 0.5) * column


def _draw_step(
    axes: Axes, step: tuple[Added, ...], cells: int, column: float, y: float, last: bool
) -> None:
    width = min(column * 0.86, 0.42)
    written = {each.cell: each for each in step}
    for cell in range(cells):
        look: Look = {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 1.0}
        if cell not in written:
            look = {"facecolor": p.PAPER, "edgecolor": p.IDLE, "linewidth": 1.0}
        square(axes, _x(cell, column), y, width, look, _BOX)
        if cell in written:
            cell_text(axes, _x(cell, column), y, str(written[cell].thread), p.PAPER)
    for each in step:
        for cell in each.read:
            axes.plot(
                [_x(cell, column), _x(each.cell, column)],
                [y - _STEP + _BOX / 2, y - _BOX / 2],
                color=p.ACTIVE,
                lw=2.2 if last else 1.3,
                alpha=1.0 if cell == each.cell or last else 0.75,
                linestyle="-" if cell == each.cell else p.READ_DASHES,
                zorder=2,
            )


def _say_who_works(axes: Axes, step: tuple[Added, ...], recording: Recording, y: float) -> None:
    working = len({each.thread for each in step})
    words = f"{working} of {recording.threads_per_block} work"
    axes.text(
        p.WIDEST - _RIGHT + 0.12, y, words, fontsize=p.SMALL, color=p.QUIET, va="center_baseline"
    )


def describe_tree(recording: Recording, array: str, upto: int | None = None) -> str:
    """Returns in words what `draw_tree` shows."""
    steps = reduction_steps(recording, array)
    shown = steps if upto is None else steps[: upto + 1]
    said = [f"{recording.kernel}: {array} in block 0, filled by {_who(shown[0])}."]
    for number, step in enumerate(shown[1:], 1):
        first = step[0]
        verb = "adds" if len(step) == 1 else "add"
        said.append(
            f"Step {number}: {_who(step)} {verb}; thread {first.thread} adds cells "
            f"{ranges(first.read)} into cell {first.cell}."
        )
    return " ".join(said)


def _who(step: tuple[Added, ...]) -> str:
    threads = sorted({each.thread for each in step})
    return f"thread {threads[0]}" if len(threads) == 1 else f"threads {ranges(threads)}"


@dataclass(frozen=True)
class Warps:
    """Which threads of a block work in a step, and which warps diverge by that."""

    working: frozenset[int]
    divergent: tuple[int, ...]
    resting: tuple[int, ...]


def warps_at_work(recording: Recording, array: str) -> tuple[Warps, ...]:
    """Returns for each step after the filling who works, and which warps diverge."""
    found = []
    for step in reduction_steps(recording, array)[1:]:
        working = frozenset(each.thread for each in step)
        divergent, resting = [], []
        for warp in range(-(-recording.threads_per_block // WARP)):
            lanes = set(range(warp * WARP, min((warp + 1) * WARP, recording.threads_per_block)))
            if not lanes & working:
                resting.append(warp)
            elif not lanes <= working:
                divergent.append(warp)
        found.append(Warps(working, tuple(divergent), tuple(resting)))
    return tuple(found)


def draw_activity(recording: Recording, array: str, ax: Axes | None = None) -> Figure:
    """Returns the threads of a block as a strip for each step: at work, idle, in a divergent warp.

    Args:
        recording: of a launch of at most 256 threads a block.
        array: the array whose cells are added up.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: no such array, or too many threads to draw.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    threads = recording.threads_per_block
    if threads > MAX_THREADS:
        raise CourseError(
            f"a block has {threads} threads", f"draw a block of at most {MAX_THREADS}"
        )
    steps = warps_at_work(recording, array)
    warps = -(-threads // WARP)
    gap = 0.07
    each = (p.WIDEST - _LEFT - _RIGHT - (warps - 1) * gap) / threads
    height = _TOP + len(steps) * _ROW + 0.42
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        divergent = sum(len(step.divergent) for step in steps)
        title(
            axes,
            _EDGE,
            f"{recording.kernel}: who works in each step",
            f"{count(threads, 'thread')}, {count(warps, 'warp')}; "
            f"{count(divergent, 'divergent warp')} in all steps together",
            mono=False,
        )
        for warp in range(warps):
            middle = _LEFT + warp * (WARP * each + gap) + WARP * each / 2
            cell_text(axes, middle, _TOP - 0.24, f"warp {warp}", p.QUIET)
        for number, step in enumerate(steps):
            y = _TOP + number * _ROW
            row_label(axes, _LEFT - 0.14, y, f"step {number + 1}")
            parts: dict[bool, list[Rectangle]] = {True: [], False: []}
            for thread in range(threads):
                x = _LEFT + thread * each + thread // WARP * gap
                box = Rectangle((x, y - 0.1), each, 0.2)
                parts[thread in step.working].append(box)
            for working, boxes in parts.items():
                colour = p.ACTIVE if working else p.IDLE
                axes.add_artist(PatchCollection(boxes, facecolor=colour, edgecolor="none"))
            for warp in step.divergent:
                x = _LEFT + warp * (WARP * each + gap)
                frame: Look = {"facecolor": "none", "edgecolor": p.CONFLICT, "linewidth": 1.6}
                axes.add_artist(Rectangle((x, y - 0.12), WARP * each, 0.24, zorder=4, **frame))
            words = f"{len(step.divergent)} divergent" if step.divergent else "none divergent"
            axes.text(
                p.WIDEST - _RIGHT + 0.12,
                y,
                words,
                fontsize=p.SMALL,
                color=p.CONFLICT if step.divergent else p.QUIET,
                fontweight="bold" if step.divergent else "normal",
                va="center_baseline",
            )
        y = height - 0.22
        for x, look, words in (
            (_LEFT, {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE}, "adds"),
            (_LEFT + 1.0, {"facecolor": p.IDLE, "edgecolor": p.IDLE}, "idle"),
            (
                _LEFT + 2.0,
                {"facecolor": "none", "edgecolor": p.CONFLICT},
                "divergent warp: some add, some idle",
            ),
        ):
            square(axes, x, y, 0.18, {**look, "linewidth": 1.4})
            axes.text(x + 0.18, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
    return with_alt(figure, describe_activity(recording, array))


def describe_activity(recording: Recording, array: str) -> str:
    """Returns in words what `draw_activity` shows."""
    said = [f"{recording.kernel}: who works in each step, {recording.threads_per_block} threads."]
    for number, step in enumerate(warps_at_work(recording, array), 1):
        said_of = (
            f"warps {ranges(step.divergent)} divergent" if step.divergent else "no warp divergent"
        )
        if len(step.divergent) == 1:
            said_of = f"warp {step.divergent[0]} divergent"
        said.append(f"Step {number}: {count(len(step.working), 'thread')} at work, {said_of}.")
    return " ".join(said)
