"""Examples of the pictures of lesson 13."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.softmax_to_flash.key_loads import planned_loads
from gpu_course.lessons.softmax_to_flash.online import online_steps
from gpu_course.lessons.softmax_to_flash.pictures import draw_online, draw_traffic
from tests.gpu_course.draw.examples import draws

SCORES = [1.5, -0.5, 2.0, 0.5, 3.5, 3.0, 1.0, 3.5, -1.0, 2.0]
ROWS = {
    "a few": SCORES,
    "one": [2.0],
    "as many as there is room for": [0.25 * k for k in range(24)],
}


@draws(draw_traffic, 1, 7, 32, 96)
def tiles_beside_single_rows(rows: int) -> Figure:
    return draw_traffic(planned_loads(96, 32, 1), planned_loads(96, 32, rows))


@draws(draw_traffic)
def the_first_half_of_a_launch() -> Figure:
    return draw_traffic(planned_loads(256, 128, 64, tile=32).until(3))


@draws(draw_online, 0, 4, 6, 9)
def a_step(number: int) -> Figure:
    return draw_online(online_steps(SCORES), number)


@draws(draw_online, *ROWS)
def the_last_step(name: str) -> Figure:
    steps = online_steps(ROWS[name])
    return draw_online(steps, len(steps) - 1)
