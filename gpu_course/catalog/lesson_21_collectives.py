"""The puzzles of lesson 21 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.catalog.collectives.double_tree import DOUBLE_TREE
from gpu_course.catalog.collectives.fit_alpha_beta import FIT_ALPHA_BETA
from gpu_course.catalog.collectives.hierarchical import HIERARCHICAL
from gpu_course.catalog.collectives.ring_reduce_scatter import RING_REDUCE_SCATTER
from gpu_course.catalog.specification import Lesson

LESSON = Lesson(
    name="21_collectives",
    title="Collectives",
    part=4,
    minutes=150,
    goal=(
        "You can write the collectives of distributed training by hand, count the bytes that each "
        "rank sends, and say which of them a given machine should use."
    ),
    puzzles=(RING_REDUCE_SCATTER, DOUBLE_TREE, HIERARCHICAL, FIT_ALPHA_BETA),
)
