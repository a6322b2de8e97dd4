"""Examples of the pictures of lesson 04."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.shared_memory.pictures import draw_halo, draw_transposition
from tests.gpu_course.draw.examples import draws


@draws(draw_halo, (24, 8, 1), (12, 4, 3))
def a_halo(sizes: tuple[int, int, int]) -> Figure:
    return draw_halo(*sizes)


@draws(draw_transposition)
def a_transposition() -> Figure:
    return draw_transposition()
