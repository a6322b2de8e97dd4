"""The puzzles of lesson 03 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.catalog.coalescing.sectors import SECTORS
from gpu_course.catalog.specification import Lesson

LESSON = Lesson(
    name="03_coalescing",
    title="Coalescing",
    part=1,
    minutes=120,
    goal=(
        "You can say what one warp's load or store costs before you run it, and lay data out so "
        "that it costs the least."
    ),
    puzzles=(SECTORS,),
)
