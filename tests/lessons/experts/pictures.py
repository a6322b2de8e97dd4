"""Pictures of lesson 28 that are drawn for the tests of every picture."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.experts.pictures import draw_flow, draw_load
from gpu_course.lessons.experts.routing import route_drawn
from tests.gpu_course.draw.examples import draws


@draws(draw_flow, (64, 8, 2, 4, 4, 1.25), (64, 16, 4, 4, 2, 0.5), (4, 4, 1, 1, 1, 1.0))
def flows(given: tuple[int, int, int, int, int, float]) -> Figure:
    return draw_flow(route_drawn(*given))


@draws(draw_load)
def load() -> Figure:
    names = ("nothing", "auxiliary loss", "your bias")
    ends = (0.7, 0.4, 0.1)
    return draw_load(
        {
            name: [0.5 + (end - 0.5) * step / 60 for step in range(60)]
            for name, end in zip(names, ends, strict=True)
        }
    )
