"""The puzzles of lesson 25 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.context_parallel.imbalance import IMBALANCE
from gpu_course.lessons.context_parallel.merge_lse import MERGE_LSE
from gpu_course.lessons.context_parallel.predictions import PREDICTIONS
from gpu_course.lessons.context_parallel.ring_attention import RING_ATTENTION
from gpu_course.lessons.context_parallel.ring_attention_backward import RING_ATTENTION_BACKWARD
from gpu_course.lessons.context_parallel.ulysses import ULYSSES
from gpu_course.lessons.context_parallel.ulysses_backward import ULYSSES_BACKWARD
from gpu_course.lessons.context_parallel.zigzag_assign import ZIGZAG_ASSIGN
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="25_context_parallel",
    title="Context parallelism",
    part=4,
    minutes=180,
    goal=(
        "You can spread one sequence over several ranks and get exact attention, forward and "
        "backward; count what each rank sends, holds and waits for; and choose between ring and "
        "Ulysses."
    ),
    puzzles=(
        MERGE_LSE,
        RING_ATTENTION,
        RING_ATTENTION_BACKWARD,
        IMBALANCE,
        ZIGZAG_ASSIGN,
        ULYSSES,
        ULYSSES_BACKWARD,
    ),
    predictions=PREDICTIONS,
)
