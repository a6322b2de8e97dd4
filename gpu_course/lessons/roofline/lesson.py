"""The puzzles of lesson 10 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.roofline.classify import CLASSIFY
from gpu_course.lessons.roofline.intensity import INTENSITY
from gpu_course.lessons.roofline.layer_batch import LAYER_BATCH
from gpu_course.lessons.roofline.predictions import PREDICTIONS
from gpu_course.lessons.roofline.time_floor import TIME_FLOOR
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="10_roofline",
    title="The roofline",
    part=2,
    minutes=120,
    goal=(
        "You can say of any operation, before it runs, whether arithmetic, memory or launches "
        "decide its time, how fast it can be on a given card, and what would have to change."
    ),
    puzzles=(INTENSITY, TIME_FLOOR, CLASSIFY, LAYER_BATCH),
    predictions=PREDICTIONS,
)
