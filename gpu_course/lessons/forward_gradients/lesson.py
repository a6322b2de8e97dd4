"""The puzzles of lesson 19 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.forward_gradients.forward_gradient import FORWARD_GRADIENT
from gpu_course.lessons.forward_gradients.k_directions import K_DIRECTIONS
from gpu_course.lessons.forward_gradients.predictions import PREDICTIONS
from gpu_course.lessons.forward_gradients.variance_law import VARIANCE_LAW
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="19_forward_gradients",
    title="Forward gradients",
    part=3,
    minutes=90,
    goal=(
        "You can train without a backward pass, and say what it saves in memory and what it costs "
        "in noise."
    ),
    puzzles=(FORWARD_GRADIENT, VARIANCE_LAW, K_DIRECTIONS),
    predictions=PREDICTIONS,
)
