"""The puzzles of lesson 00 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.start_here.add_ten import ADD_TEN
from gpu_course.lessons.start_here.predictions import PREDICTIONS
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="00_start_here",
    title="Start here",
    part=0,
    minutes=30,
    goal=(
        "You know what this machine can do, you have run a kernel in the simulator, read one of "
        "its error messages, and passed a first puzzle."
    ),
    puzzles=(ADD_TEN,),
    predictions=PREDICTIONS,
)
