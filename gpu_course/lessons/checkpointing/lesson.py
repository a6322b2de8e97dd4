"""The puzzles of lesson 17 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.checkpointing.checkpoint import CHECKPOINT
from gpu_course.lessons.checkpointing.log_plan import LOG_PLAN
from gpu_course.lessons.checkpointing.predictions import CHECKPOINTING
from gpu_course.lessons.checkpointing.revolve import REVOLVE
from gpu_course.lessons.checkpointing.rng_safe import RNG_SAFE
from gpu_course.lessons.checkpointing.sqrt_plan import SQRT_PLAN
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="17_checkpointing",
    title="Checkpointing",
    part=3,
    minutes=120,
    goal=(
        "You can trade forward passes for memory: build a checkpoint that changes no bit of the "
        "result, and plan where checkpoints stand in a chain."
    ),
    puzzles=(CHECKPOINT, RNG_SAFE, SQRT_PLAN, LOG_PLAN, REVOLVE),
    predictions=CHECKPOINTING,
)
