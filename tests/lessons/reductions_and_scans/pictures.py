"""Examples of the pictures of reductions in lesson 05."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gpu_course.lessons.reductions_and_scans.reduction_pictures import draw_activity, draw_tree
from simt.stepping import record
from tests.gpu_course.draw.examples import draws
from tests.lessons.reductions_and_scans.test_reduction_pictures import halves, neighbours


@draws(draw_activity)
def who_adds() -> Figure:
    a = np.linspace(-19.875, 20.125, 128, dtype=np.float32)
    return draw_activity(record(neighbours)[1, 128](np.zeros(1, np.float32), a, 128), "tile")


@draws(draw_tree)
def a_tree() -> Figure:
    a = np.linspace(-19.875, 20.125, 16, dtype=np.float32)
    return draw_tree(record(halves)[1, 16](np.zeros(1, np.float32), a), "tile")
