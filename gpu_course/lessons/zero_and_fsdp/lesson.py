"""The puzzles of lesson 23 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.zero_and_fsdp.estimate import ESTIMATE
from gpu_course.lessons.zero_and_fsdp.memory_per_rank import MEMORY_PER_RANK
from gpu_course.lessons.zero_and_fsdp.predictions import PREDICTIONS
from gpu_course.lessons.zero_and_fsdp.reshard import RESHARD
from gpu_course.lessons.zero_and_fsdp.zero1 import ZERO1
from gpu_course.lessons.zero_and_fsdp.zero2 import ZERO2
from gpu_course.lessons.zero_and_fsdp.zero3 import ZERO3
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="23_zero_and_fsdp",
    title="ZeRO and FSDP",
    part=4,
    minutes=180,
    goal=(
        "You can cut states, gradients and parameters of a model into slices over the ranks, count "
        "what each rank holds and sends, and say which stage a given model needs."
    ),
    puzzles=(MEMORY_PER_RANK, ZERO1, ZERO2, ZERO3, ESTIMATE, RESHARD),
    predictions=PREDICTIONS,
)
