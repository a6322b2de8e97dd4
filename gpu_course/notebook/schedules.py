"""What lessons on checkpointing show: a schedule, with its alt text."""

from __future__ import annotations

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
