"""Examples of the pictures of lesson 03."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.draw.execution.sectors import Request
from gpu_course.lessons.coalescing.pictures import draw_sides
from tests.gpu_course.draw.examples import draws


@draws(draw_sides)
def rows_in_and_columns_out() -> Figure:
    stored = Request(tuple(range(0, 32 * 96, 96)), kind="write")
    return draw_sides(Request(tuple(range(0, 128, 4))), stored, (24, 32))
