"""Examples of the pictures of lesson 06."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gpu_course.lessons.matmul.pictures import draw_ladder, draw_reuse, draw_waves
from tests.gpu_course.draw.examples import draws

FIRST = np.zeros((16, 16), bool)
FIRST[0, ::4] = True
FIRST_ROWS = np.zeros((16, 16), bool)
FIRST_ROWS[:4] = True


@draws(draw_ladder)
def two_steps() -> Figure:
    steps = [("no tiles", 2.0, 0.0, 1986.5), ("squares of 8 by 8", 0.015625, 0.25, 15971.7)]
    return draw_ladder(steps, "somebody 2022")


@draws(draw_reuse)
def squares() -> Figure:
    return draw_reuse(4, 2048, (FIRST_ROWS, FIRST), (FIRST_ROWS.T, FIRST))


@draws(draw_reuse)
def no_tile() -> Figure:
    return draw_reuse(1, 8192, (FIRST, FIRST), (FIRST, FIRST))


@draws(draw_waves)
def waves() -> Figure:
    return draw_waves([32, 64, 96, 128], [0.3, 1.0, 0.5, 0.7], 96, "2 SMs", 2)
