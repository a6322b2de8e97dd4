"""The puzzles of lesson 04 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.shared_memory.block_reverse import BLOCK_REVERSE
from gpu_course.lessons.shared_memory.box_blur_2d import BOX_BLUR_2D
from gpu_course.lessons.shared_memory.conv1d import CONV1D
from gpu_course.lessons.shared_memory.fix_the_barrier import FIX_THE_BARRIER
from gpu_course.lessons.shared_memory.fix_the_race import FIX_THE_RACE
from gpu_course.lessons.shared_memory.pooling import POOLING
from gpu_course.lessons.shared_memory.predictions import PREDICTIONS
from gpu_course.lessons.shared_memory.stencil_halo import STENCIL_HALO
from gpu_course.lessons.shared_memory.transpose_padded import TRANSPOSE_PADDED
from gpu_course.lessons.shared_memory.transpose_tiled import TRANSPOSE_TILED
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="04_shared_memory",
    title="Shared memory",
    part=1,
    minutes=180,
    goal=(
        "You can let the threads of a block work on a tile together, say which barrier each pair "
        "of accesses needs, load halos and ragged edges, and lay a tile out so that no lane waits "
        "for another lane's bank."
    ),
    puzzles=(
        BLOCK_REVERSE,
        FIX_THE_RACE,
        FIX_THE_BARRIER,
        POOLING,
        STENCIL_HALO,
        CONV1D,
        BOX_BLUR_2D,
        TRANSPOSE_TILED,
        TRANSPOSE_PADDED,
    ),
    predictions=PREDICTIONS,
)
