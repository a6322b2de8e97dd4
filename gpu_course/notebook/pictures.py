"""The show_x functions of a lesson: draw a picture and display it with its alt text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.paper.picture import alt_text, figure_html
from gpu_course.errors import CourseError
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import show, trouble
from simt.report import Recording, Report

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
    from gpu_course.draw.touches.picture import draw_touches

    show(Picture(draw_touches(report, arrays)))


def show_ownership(report: Report, array: str) -> None:
    """Shows which block and thread wrote each cell of one array."""
    from gpu_course.draw.execution.ownership import draw_ownership

    try:
        show(Picture(draw_ownership(report, array)))
    except CourseError as error:
        show(trouble(error))


def show_launch_grid(
    grid: int | Sequence[int], block: int | Sequence[int], size: int | Sequence[int] | None = None
) -> None:
    """Shows the blocks and threads of a launch, each with its index, and which have a cell.

    Args:
        grid, block: as in a launch.
        size: cells there are: threads whose global index is below it have one; default all.
    """
    from gpu_course.draw.execution.launch_grid import draw_launch_grid

    try:
        show(Picture(draw_launch_grid(grid, block, size)))
    except CourseError as error:
        show(trouble(error))


def show_cards(*names: str) -> None:
    """Shows bandwidth and arithmetic of GPUs side by side; without a name, all the course knows."""
    from gpu_course.draw.execution.cards import draw_cards
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
    from gpu_course.draw.execution.banks import draw_banks, words_of_warp

    try:
        show(Picture(draw_banks(words_of_warp(report, array, kind, warp))))
    except CourseError as error:
        show(trouble(error))


def show_sectors(
    report: Report, array: str, kind: str = "read", warp: int = 0, itemsize: int = 4
) -> None:
    """Shows the lanes of a warp and the sectors of global memory that one request touches.

    Args:
        report: of a launch of at most 4,096 threads.
        array: the name of an array of global memory in the kernel.
        kind: "read" or "write": the first of its kind is shown.
        warp: which warp of block 0.
        itemsize: bytes of an element of the array.
    """
    from gpu_course.draw.execution.sectors import draw_sectors, request_of_warp

    try:
        show(Picture(draw_sectors(request_of_warp(report, array, kind, warp, itemsize))))
    except CourseError as error:
        show(trouble(error))


def show_sides(report: Report, shape: tuple[int, int], warp: int = 0) -> None:
    """Shows where one warp of a transposition loads from `a` and where it stores to `out`.

    Args:
        report: of a launch of at most 4,096 threads, on float32.
        shape: (rows, columns) of `a`, both multiples of 8, of at most 32.
        warp: which warp of block 0.
    """
    from gpu_course.draw.execution.sectors import draw_sides, request_of_warp

    try:
        load = request_of_warp(report, "a", "read", warp)
        store = request_of_warp(report, "out", "write", warp)
        show(Picture(draw_sides(load, store, shape)))
    except CourseError as error:
        show(trouble(error))


def show_intervals(recording: Recording, array: str, block: int = 0) -> None:
    """Shows who touched which cell of an array between one barrier and the next.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        array: the name of an array in the kernel, of at most 32 cells.
        block: the linear number of the block.
    """
    from gpu_course.draw.execution.intervals import draw_intervals

    try:
        show(Picture(draw_intervals(recording, array, block)))
    except CourseError as error:
        show(trouble(error))


@asks_for_answers
def show_activity(launch: Recording | str, array: str) -> None:
    """Shows which threads of a block work in each step of a reduction, and which warps diverge.

    Args:
        launch: a Recording, as `simt.stepping.record` makes it, of a launch of at most 256
            threads a block; or the name of a kernel puzzle, for your own answer on the visible
            example.
        array: the name of the array in the kernel whose cells are added up.
    """
    from gpu_course.draw.execution.reductions import draw_activity
    from gpu_course.notebook.own_launch import record_answer

    try:
        recording = record_answer(launch) if isinstance(launch, str) else launch
        show(Picture(draw_activity(recording, array)))
    except CourseError as error:
        show(trouble(error))


@asks_for_answers
def show_divergence(launch: Recording | str, warps: Sequence[int] = (0,)) -> None:
    """Shows the lines that warps carried out, and which lanes were at work in each.

    Args:
        launch: a Recording, as `simt.stepping.record` makes it; or the name of a kernel
            puzzle, for your own answer on the visible example.
        warps: which warps, counted over the whole grid.
    """
    from gpu_course.draw.execution.divergence import draw_divergence
    from gpu_course.notebook.own_launch import record_answer

    try:
        recording = record_answer(launch) if isinstance(launch, str) else launch
        show(Picture(draw_divergence(recording, warps)))
    except CourseError as error:
        show(trouble(error))


def show_shuffles(
    recording: Recording, variable: str, warp: int = 0, follow: int | None = None
) -> None:
    """Shows what the lanes of a warp hold before and after each shuffle, and who read from whom.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        variable: what the lanes shuffle and change.
        warp: which warp, counted over the whole grid.
        follow: a lane whose result is traced back.
    """
    from gpu_course.draw.execution.shuffles import draw_shuffles

    try:
        show(Picture(draw_shuffles(recording, variable, warp, follow)))
    except CourseError as error:
        show(trouble(error))


MOST_FOLLOWED = 64
"""Accesses up to which a launch is played thread by thread."""


def play_touches(report: Report) -> Explorer:
    """Returns a launch drawn as it runs, an access at a time.

    A small launch is taken thread by thread, so that each can be followed to its cell; in a larger
    one a step is an access of all its threads.

    Args:
        report: of a launch of at most 4,096 threads.
    """
    from gpu_course.draw.touches.picture import draw_touches, first_steps
    from gpu_course.notebook.explore import play

    one_by_one = sum(len(touch.threads) for touch in report.touches) <= MOST_FOLLOWED
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
        shown = draw_touches(first_steps(report, steps, threads), follow=follow)
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
    return f"Line {touch.line}: thread {thread} {_VERBS[touch.kind]} {touch.array}[{place}]."


def show_halo(size: int, block: int, frame: int) -> None:
    """Shows the tiles of neighbouring blocks under the array they are cut from.

    Args:
        size: cells of the array.
        block: results of a block.
        frame: cells that a tile holds more on each side.
    """
    from gpu_course.draw.execution.tiles import draw_halo

    show(Picture(draw_halo(size, block, frame)))


def show_transposition() -> None:
    """Shows a transposition thread by thread, and the same through a tile."""
    from gpu_course.draw.execution.tiles import draw_transposition

    show(Picture(draw_transposition()))


def show_losses(
    losses: Mapping[str, Sequence[float]],
    every: int,
    goal: float | None = None,
    floor: float | None = None,
) -> None:
    """Shows the losses of several runs over their steps.

    Args:
        losses: {run: loss before training and after each `every` steps}.
        every: steps between two losses.
        goal, floor: what was to be reached, and what no model can go below.
    """
    from gpu_course.draw.training.training_runs import draw_losses

    show(Picture(draw_losses(losses, every, goal, floor)))
