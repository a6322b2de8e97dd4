"""The show_x functions of a lesson: draw a picture and display it with its alt text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.picture import alt_text, figure_html
from gpu_course.errors import CourseError
from gpu_course.notebook.note import show, trouble
from gpu_course.simt.recording import Recording
from gpu_course.simt.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpu_course.notebook.explore import Explorer


class Picture:
    """A figure that shows itself: an inline image in a notebook, its alt text everywhere else."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def __repr__(self) -> str:
        return alt_text(self.figure)

    def _repr_html_(self) -> str:
        return figure_html(self.figure)


def show_touches(report: Report, arrays: Mapping[str, Any] | Iterable[str] | None = None) -> None:
    """Shows who touches what in a launch.

    Args:
        report: of a launch of at most 4,096 threads.
        arrays: names to show, or {name: values} to see the values in the cells; default all.
    """
    from gpu_course.draw.touches import draw_touches

    show(Picture(draw_touches(report, arrays)))


def show_ownership(report: Report, array: str) -> None:
    """Shows which block and thread wrote each cell of one array."""
    from gpu_course.draw.ownership import draw_ownership

    try:
        show(Picture(draw_ownership(report, array)))
    except CourseError as error:
        show(trouble(error))


def show_launch_grid(
    grid: int | Sequence[int], block: int | Sequence[int], size: int | Sequence[int] | None = None
) -> None:
    """Shows the blocks and threads of a launch, each with its index, and what a guard stops.

    Args:
        grid, block: as in a launch.
        size: only threads whose global index is below it are active; default all.
    """
    from gpu_course.draw.launch_grid import draw_launch_grid

    try:
        show(Picture(draw_launch_grid(grid, block, size)))
    except CourseError as error:
        show(trouble(error))


def show_cards(*names: str) -> None:
    """Shows bandwidth and arithmetic of GPUs side by side; without a name, all the course knows."""
    from gpu_course.draw.cards import draw_cards
    from gpu_course.hardware.datasheet import device, devices

    try:
        show(Picture(draw_cards([device(name) for name in names] or devices())))
    except CourseError as error:
        show(trouble(error))


def show_banks(report: Report, array: str, kind: str = "read", warp: int = 0) -> None:
    """Shows which banks of shared memory one request asks, and in how many passes.

    Args:
        report: of a launch of at most 4,096 threads.
        array: the name of a shared array of four-byte elements in the kernel.
        kind: "read" or "write": the first of its kind is shown.
        warp: which warp of block 0.
    """
    from gpu_course.draw.banks import draw_banks, words_of_warp

    try:
        show(Picture(draw_banks(words_of_warp(report, array, kind, warp))))
    except CourseError as error:
        show(trouble(error))


def show_intervals(recording: Recording, array: str, block: int = 0) -> None:
    """Shows who touched which cell of an array between one barrier and the next.

    Args:
        recording: of a launch, as `gpu_course.stepping.record` makes it.
        array: the name of an array in the kernel, of at most 32 cells.
        block: the linear number of the block.
    """
    from gpu_course.draw.intervals import draw_intervals

    try:
        show(Picture(draw_intervals(recording, array, block)))
    except CourseError as error:
        show(trouble(error))


def play_touches(report: Report) -> Explorer:
    """Returns a launch drawn as it runs: each step adds one access of all its threads.

    Args:
        report: of a launch of at most 4,096 threads.
    """
    from gpu_course.draw.touches import draw_touches, first_steps
    from gpu_course.notebook.explore import play

    def run(step: int) -> tuple[str, Figure]:
        return _step_text(report, step), draw_touches(first_steps(report, step))

    run.__name__ = report.kernel
    return play(run, len(report.touches) + 1)


def _step_text(report: Report, step: int) -> str:
    if step == 0:
        return "Before the first access."
    touch = report.touches[step - 1]
    verb = {"read": "read", "write": "write", "atomic": "update"}[touch.kind]
    return f"Line {touch.line}: {len(touch.threads)} threads {verb} {touch.array}."
