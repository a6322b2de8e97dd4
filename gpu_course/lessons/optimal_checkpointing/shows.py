"""What lesson 18 shows: schedules side by side, and memory against cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_course.lessons.optimal_checkpointing.lives import lives
from gpu_course.lessons.optimal_checkpointing.pictures import Panel, draw_lives, draw_pareto
from gpu_course.measure.schedules.chain import Chain
from gpu_course.measure.schedules.operations import Schedule, account
from gpu_course.measure.schedules.written import written
from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture


def beside(chain: Chain, schedules: Mapping[str, Schedule], budget: float) -> Picture:
    """Returns schedules side by side as a picture: which checkpoint is there how long.

    Args:
        chain: measured in bytes.
        schedules: {title: schedule}, two of them.
        budget: the memory there is, in bytes.
    """
    panels = {
        title: Panel(written(schedule), account(chain, schedule).rises, lives(schedule))
        for title, schedule in schedules.items()
    }
    return Picture(draw_lives(panels, budget))


def show_beside(chain: Chain, schedules: Mapping[str, Schedule], budget: float) -> None:
    """Shows schedules side by side; see `beside`."""
    show(beside(chain, schedules, budget))


def show_pareto(curves: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Shows memory against cost.

    Args:
        curves: {plan: [(bytes, cost over that of the plain run), ...]}.
    """
    show(Picture(draw_pareto(curves)))
