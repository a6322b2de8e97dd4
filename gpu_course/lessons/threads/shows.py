"""What the lesson on threads shows: a launch, who wrote which cell, and a launch that is played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.execution.launch_grid import draw_launch_grid
from gpu_course.draw.execution.ownership import draw_ownership
from gpu_course.draw.touches.contents import cell_values, value_of
from gpu_course.draw.touches.picture import draw_touches, first_steps
from gpu_course.notebook.interactive.explore import Explorer, play
from gpu_course.notebook.pictures import showing
from simt.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@showing
def show_ownership(report: Report, array: str) -> Figure:
    """Shows which block and thread wrote each cell of one array."""
    return draw_ownership(report, array)


@showing
def show_launch_grid(
    grid: int | Sequence[int], block: int | Sequence[int], size: int | Sequence[int] | None = None
) -> Figure:
    """Shows the blocks and threads of a launch, each with its index, and which have a cell.

    Args:
        grid, block: as in a launch.
        size: cells there are: threads whose global index is below it have one; default all.
    """
    return draw_launch_grid(grid, block, size)


MAX_FOLLOWED = 64
"""Accesses up to which a launch is played thread by thread."""


def play_touches(report: Report) -> Explorer:
    """Returns a launch drawn as it runs, an access at a time.

    A small launch is taken thread by thread, so that each can be followed to its cell; in a larger
    one a step is an access of all its threads.

    Args:
        report: of a launch of at most 4,096 threads.
    """
    one_by_one = sum(len(touch.threads) for touch in report.touches) <= MAX_FOLLOWED
    frames: list[tuple[int, int | None]] = [(0, None)]
    for number, touch in enumerate(report.touches, 1):
        frames += (
            [(number, k + 1) for k in range(len(touch.threads))] if one_by_one else [(number, None)]
        )

    def run(frame: tuple[int, int | None]) -> tuple[str, Figure]:
        steps, threads = frame
        follow = None
        if threads is not None:
            follow = int(report.touches[steps - 1].threads[threads - 1])
        held = cell_values(report, steps, threads)
        shown = draw_touches(first_steps(report, steps, threads), follow=follow, values=held)
        return _step_text(report, steps, threads), shown

    run.__name__ = report.kernel
    return play(run, frames)


_VERBS = {"read": "reads", "write": "writes", "atomic": "updates"}


def _step_text(report: Report, step: int, threads: int | None) -> str:
    if step == 0:
        return "Before the first access."
    touch = report.touches[step - 1]
    if threads is None:
        verb = _VERBS[touch.kind][:-1]
        return f"Line {touch.line}: {len(touch.threads)} threads {verb} {touch.array}."
    thread, cell = int(touch.threads[threads - 1]), int(touch.cells[threads - 1])
    if cell < 0:
        return f"Line {touch.line}: thread {thread} misses {touch.array}."
    place = ", ".join(str(int(i)) for i in np.unravel_index(cell, touch.shape))
    where, value = f"{touch.array}[{place}]", value_of(touch, threads - 1)
    said = f"{_VERBS[touch.kind]} {where}"
    if value:
        said = (
            f"reads {value} from {where}" if touch.kind == "read" else f"writes {value} to {where}"
        )
    return f"Line {touch.line}: thread {thread} {said}."
