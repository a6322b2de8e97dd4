"""What the lesson on warps shows: lanes that diverge, and lanes that exchange their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_course.draw.execution.divergence import draw_divergence
from gpu_course.lessons.warps.shuffles_picture import draw_shuffles
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.own.launch import record_answer
from gpu_course.notebook.pictures import showing
from simt.report import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@asks_for_answers
@showing
def show_divergence(launch: Recording | str, warps: Sequence[int] = (0,)) -> Figure:
    """Shows the lines that warps carried out, and which lanes were at work in each.

    Args:
        launch: a Recording, as `simt.stepping.record` makes it; or the name of a kernel
            puzzle, for your own answer on the visible example.
        warps: which warps, counted over the whole grid.
    """
    recording = record_answer(launch) if isinstance(launch, str) else launch
    return draw_divergence(recording, warps)


@showing
def show_shuffles(
    recording: Recording, variable: str, warp: int = 0, follow: int | None = None
) -> Figure:
    """Shows what the lanes of a warp hold before and after each shuffle, and who read from whom.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        variable: what the lanes shuffle and change.
        warp: which warp, counted over the whole grid.
        follow: a lane whose result is traced back.
    """
    return draw_shuffles(recording, variable, warp, follow)
