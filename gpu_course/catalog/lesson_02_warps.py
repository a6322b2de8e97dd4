"""The puzzles of lesson 02 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.catalog.specification import Lesson
from gpu_course.catalog.warps.occupancy import OCCUPANCY

LESSON = Lesson(
    name="02_warps",
    title="Warps",
    part=1,
    minutes=120,
    goal=(
        "You can say which lanes of a warp are at work at any line, let lanes talk to each other, "
        "and work out how many warps an SM holds."
    ),
    puzzles=(OCCUPANCY,),
)
