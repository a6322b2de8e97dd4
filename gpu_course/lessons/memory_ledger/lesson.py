"""The puzzles of lesson 16 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.memory_ledger.accumulate import ACCUMULATE
from gpu_course.lessons.memory_ledger.adam_bytes import ADAM_BYTES
from gpu_course.lessons.memory_ledger.explain_the_gap import EXPLAIN_THE_GAP
from gpu_course.lessons.memory_ledger.ledger import LEDGER
from gpu_course.lessons.memory_ledger.predictions import PREDICTIONS
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="16_memory_ledger",
    title="The memory ledger",
    part=3,
    minutes=120,
    goal=(
        "You can say of any training run which bytes are there at which moment and why, and count "
        "them beforehand."
    ),
    puzzles=(ADAM_BYTES, LEDGER, EXPLAIN_THE_GAP, ACCUMULATE),
    predictions=PREDICTIONS,
)
