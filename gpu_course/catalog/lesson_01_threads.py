"""The puzzles of lesson 01 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.catalog.specification import Lesson
from gpu_course.catalog.threads.choosing import CLIP, GATHER
from gpu_course.catalog.threads.many_blocks import BLOCKS, BLOCKS_2D, GRID_STRIDE
from gpu_course.catalog.threads.one_block import GUARD, ZIP_ADD
from gpu_course.catalog.threads.predictions import PREDICTIONS
from gpu_course.catalog.threads.two_axes import BROADCAST, MAP_2D

LESSON = Lesson(
    name="01_threads",
    title="Threads, blocks, grids",
    part=1,
    minutes=120,
    goal=(
        "You can say for any launch which thread computes which cell, write the index and the "
        "guard for one and two dimensions, and cover any amount of data with any grid."
    ),
    puzzles=(
        ZIP_ADD,
        GUARD,
        MAP_2D,
        BROADCAST,
        BLOCKS,
        BLOCKS_2D,
        GRID_STRIDE,
        GATHER,
        CLIP,
    ),
    predictions=PREDICTIONS,
)
