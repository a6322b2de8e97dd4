"""The puzzles of lesson 02 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.catalog.specification import Lesson
from gpu_course.catalog.warps.ballot_count import BALLOT_COUNT
from gpu_course.catalog.warps.even_odd_uniform import EVEN_ODD_UNIFORM
from gpu_course.catalog.warps.occupancy import OCCUPANCY
from gpu_course.catalog.warps.predictions import PREDICTIONS
from gpu_course.catalog.warps.warp_max_all import WARP_MAX_ALL
from gpu_course.catalog.warps.warp_scan import WARP_SCAN
from gpu_course.catalog.warps.warp_sum import WARP_SUM

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
