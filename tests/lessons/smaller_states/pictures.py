"""Examples of the pictures of lesson 20."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.smaller_states.pictures import draw_held, draw_rank
from tests.gpu_course.draw.examples import draws
from tests.lessons.smaller_states.test_pictures import ENDS, PLAIN, STATES


@draws(draw_rank)
def runs_of_some_ranks() -> Figure:
    return draw_rank(STATES, ENDS, 128, goal=1.25, **PLAIN)


GIB = 2**30
HELD = {
    "parameters": 14 * GIB,
    "optimizer states": 28 * GIB,
    "gradients": 14 * GIB,
    "activations": 30 * GIB,
    "temporaries": 2 * GIB,
}


@draws(draw_held)
def two_optimizers() -> Figure:
    eight_bit = HELD | {"gradients": 0}
    return draw_held({"Adam": HELD, "8 bit, power 2 and 4": eight_bit}, {"Adam": "loss 1.20"})
