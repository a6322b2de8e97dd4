"""Pictures that show themselves, and the show_x functions that several lessons call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec

from gpu_course.draw.paper.picture import alt_text, figure_html
from gpu_course.errors import CourseError
from gpu_course.notebook.note import show, trouble
from simt.report import Recording, Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Args = ParamSpec("_Args")


class Picture:
    """A figure that shows itself: an inline image in a notebook, its alt text everywhere else."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def __repr__(self) -> str:
        return alt_text(self.figure)

    def _repr_html_(self) -> str:
        return figure_html(self.figure)


def showing(draw: Callable[_Args, Figure]) -> Callable[_Args, None]:
    """Returns a function that shows what one draws, or a word on what is amiss."""

    @functools.wraps(draw)
    def show_drawn(*args: _Args.args, **kwargs: _Args.kwargs) -> None:
        try:
            show(Picture(draw(*args, **kwargs)))
        except CourseError as error:
            show(trouble(error))

    return show_drawn


@showing
def show_touches(report: Report, arrays: Mapping[str, Any] | Iterable[str] | None = None) -> Figure:
    """Shows who touches what in a launch.

    Args:
        report: of a launch of at most 4,096 threads.
        arrays: names to show, or {name: values} to see the values in the cells; default all.
    """
    from gpu_course.draw.touches.picture import draw_touches

    return draw_touches(report, arrays)


@showing
def show_banks(report: Report, array: str, kind: str = "read", warp: int = 0) -> Figure:
    """Shows which banks of shared memory one request asks, and in how many passes.

    Args:
        report: of a launch of at most 4,096 threads.
        array: the name of a shared array of four-byte elements in the kernel.
        kind: "read" or "write": the first of its kind is shown.
        warp: which warp of block 0.
    """
    from gpu_course.draw.execution.banks import draw_banks, words_of_warp

    return draw_banks(words_of_warp(report, array, kind, warp))


@showing
def show_intervals(recording: Recording, array: str, block: int = 0) -> Figure:
    """Shows who touched which cell of an array between one barrier and the next.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        array: the name of an array in the kernel, of at most 32 cells.
        block: the linear number of the block.
    """
    from gpu_course.draw.execution.intervals import draw_intervals

    return draw_intervals(recording, array, block)


@showing
def show_losses(
    losses: Mapping[str, Sequence[float]],
    every: int,
    goal: float | None = None,
    floor: float | None = None,
) -> Figure:
    """Shows the losses of several runs over their steps.

    Args:
        losses: {run: loss before training and after each `every` steps}.
        every: steps between two losses.
        goal, floor: what was to be reached, and what no model can go below.
    """
    from gpu_course.draw.training.training_runs import draw_losses

    return draw_losses(losses, every, goal, floor)
