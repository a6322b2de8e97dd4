"""Examples of the pictures of lesson 18."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.optimal_checkpointing.pictures import draw_lives, draw_pareto
from tests.gpu_course.draw.examples import draws
from tests.lessons.optimal_checkpointing.test_pictures import CURVES, PANELS


@draws(draw_pareto)
def plans() -> Figure:
    return draw_pareto(CURVES)


@draws(draw_lives)
def two_schedules() -> Figure:
    return draw_lives(PANELS, 4096)
