"""The puzzles of lesson 02 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.warps.ballot_count import BALLOT_COUNT
from gpu_course.lessons.warps.even_odd_uniform import EVEN_ODD_UNIFORM
from gpu_course.lessons.warps.occupancy import OCCUPANCY
from gpu_course.lessons.warps.predictions import PREDICTIONS
from gpu_course.lessons.warps.warp_max_all import WARP_MAX_ALL
from gpu_course.lessons.warps.warp_scan import WARP_SCAN
from gpu_course.lessons.warps.warp_sum import WARP_SUM
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="02_warps",
    title="Warps",
    part=1,
    minutes=150,
    goal=(
        "You can say which lanes of a warp are at work at any line, let lanes talk to each other, "
        "and work out how many warps an SM holds."
    ),
    puzzles=(
        EVEN_ODD_UNIFORM,
        BALLOT_COUNT,
        WARP_SUM,
        WARP_MAX_ALL,
        WARP_SCAN,
        OCCUPANCY,
    ),
    predictions=PREDICTIONS,
)
