"""The puzzles of lesson 21 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.collectives.all_reduce import ALL_REDUCE
from gpu_course.lessons.collectives.double_tree import DOUBLE_TREE
from gpu_course.lessons.collectives.fat_tree import FAT_TREE
from gpu_course.lessons.collectives.fit_alpha_beta import FIT_ALPHA_BETA
from gpu_course.lessons.collectives.hierarchical import HIERARCHICAL
from gpu_course.lessons.collectives.predictions import PREDICTIONS
from gpu_course.lessons.collectives.ring_all_gather import RING_ALL_GATHER
from gpu_course.lessons.collectives.ring_reduce_scatter import RING_REDUCE_SCATTER
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="21_collectives",
    title="Collectives",
    part=4,
    minutes=210,
    goal=(
        "You can write the collectives of distributed training by hand, count the bytes that each "
        "rank sends, and say which of them a given machine should use."
    ),
    puzzles=(
        RING_REDUCE_SCATTER,
        RING_ALL_GATHER,
        ALL_REDUCE,
        DOUBLE_TREE,
        HIERARCHICAL,
        FAT_TREE,
        FIT_ALPHA_BETA,
    ),
    predictions=PREDICTIONS,
)
