"""The puzzles of lesson 03 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.coalescing.copy_coalesced import COPY_COALESCED
from gpu_course.lessons.coalescing.embedding_lookup import EMBEDDING_LOOKUP
from gpu_course.lessons.coalescing.predictions import PREDICTIONS
from gpu_course.lessons.coalescing.sectors import SECTORS
from gpu_course.lessons.coalescing.soa_from_aos import SOA_FROM_AOS
from gpu_course.lessons.coalescing.sum_columns import SUM_COLUMNS
from gpu_course.lessons.coalescing.sum_rows import SUM_ROWS
from gpu_course.lessons.coalescing.transpose_naive import TRANSPOSE_NAIVE
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="03_coalescing",
    title="Coalescing",
    part=1,
    minutes=150,
    goal=(
        "You can say what one warp's load or store costs before you run it, and lay data out so "
        "that it costs the least."
    ),
    puzzles=(
        SECTORS,
        COPY_COALESCED,
        SUM_COLUMNS,
        SUM_ROWS,
        SOA_FROM_AOS,
        EMBEDDING_LOOKUP,
        TRANSPOSE_NAIVE,
    ),
    predictions=PREDICTIONS,
)
