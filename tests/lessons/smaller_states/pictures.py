"""An example of the picture of lesson 20."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.smaller_states.pictures import draw_rank
from tests.gpu_course.draw.examples import draws
from tests.lessons.smaller_states.test_pictures import ENDS, PLAIN, STATES


@draws(draw_rank)
def runs_of_some_ranks() -> Figure:
    return draw_rank(STATES, ENDS, 128, goal=1.25, **PLAIN)
