"""Examples of the pictures of lesson 31."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.referee.pictures import Pair, draw_twins
from tests.gpu_course.draw.examples import draws

PAIRS = (Pair(200, 7000), Pair(6000, 6100), Pair(35, 38), Pair(3000, 7000))


@draws(draw_twins)
def four_pairs() -> Figure:
    return draw_twins(PAIRS, 2)


@draws(draw_twins)
def none() -> Figure:
    return draw_twins((), 5)
