"""The puzzles of lesson 01 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.threads.blocks import BLOCKS
from gpu_course.lessons.threads.blocks_2d import BLOCKS_2D
from gpu_course.lessons.threads.broadcast import BROADCAST
from gpu_course.lessons.threads.clip import CLIP
from gpu_course.lessons.threads.gather import GATHER
from gpu_course.lessons.threads.grid_stride import GRID_STRIDE
from gpu_course.lessons.threads.guard import GUARD
from gpu_course.lessons.threads.map_2d import MAP_2D
from gpu_course.lessons.threads.predictions import PREDICTIONS
from gpu_course.lessons.threads.zip_add import ZIP_ADD
from gpu_course.puzzle.specification import Lesson

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
