"""What lessons 17 and 18 show: schedules, and memory against cost, each with its alt text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture

if TYPE_CHECKING:
    from gpu_course.measure.schedules.chain import Chain
    from gpu_course.measure.schedules.operations import Schedule


def picture_of(chain: Chain, schedule: Schedule, budget: float | None = None) -> Picture:
    """Returns a schedule as a picture: which stage runs when, and the memory meanwhile.

    Args:
        chain: equal stages of size 1, or one measured in bytes.
        schedule: for that chain.
        budget: a line for the memory there is.
    """
    from gpu_course.draw.training.schedules import draw_schedule
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.written import written

    rises = account(chain, schedule).rises
    in_bytes = max(stage.output_bytes for stage in chain.stages) > 64
    return Picture(draw_schedule(written(schedule), rises, budget=budget, in_bytes=in_bytes))


def show_schedule(chain: Chain, schedule: Schedule, budget: float | None = None) -> None:
    """Shows a schedule; see `picture_of`."""
    show(picture_of(chain, schedule, budget))


def beside(chain: Chain, schedules: Mapping[str, Schedule], budget: float) -> Picture:
    """Returns schedules side by side as a picture: which checkpoint is there how long.

    Args:
        chain: measured in bytes.
        schedules: {title: schedule}, two of them.
        budget: the memory there is, in bytes.
    """
    from gpu_course.draw.training.lives import Bar, Panel, draw_lives
    from gpu_course.measure.schedules.lives import lives
    from gpu_course.measure.schedules.operations import account

    panels = {
        title: Panel(
            [(str(operation.kind), operation.stage) for operation in schedule],
            account(chain, schedule).rises,
            [
                Bar(each.stage, each.born, each.ended, each.dropped, each.again)
                for each in lives(schedule)
            ],
        )
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
    from gpu_course.draw.training.schedules import draw_pareto

    show(Picture(draw_pareto(curves)))
