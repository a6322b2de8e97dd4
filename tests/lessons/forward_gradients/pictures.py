"""Examples of the pictures of lesson 19."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.forward_gradients.pictures import draw_estimates, draw_ledgers
from tests.gpu_course.draw.examples import draws
from tests.lessons.forward_gradients.test_pictures import CLOUD, LEDGERS


@draws(draw_ledgers)
def two_ledgers() -> Figure:
    return draw_ledgers(LEDGERS)


@draws(draw_estimates)
def cloud() -> Figure:
    return draw_estimates((1.0, 0.5), CLOUD)
