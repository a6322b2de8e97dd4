"""The puzzles of lesson 24 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.tensor_parallel.column_linear import COLUMN_LINEAR
from gpu_course.lessons.tensor_parallel.parallel_attention import PARALLEL_ATTENTION
from gpu_course.lessons.tensor_parallel.parallel_mlp import PARALLEL_MLP
from gpu_course.lessons.tensor_parallel.predictions import PREDICTIONS
from gpu_course.lessons.tensor_parallel.row_linear import ROW_LINEAR
from gpu_course.lessons.tensor_parallel.sequence_parallel import SEQUENCE_PARALLEL
from gpu_course.lessons.tensor_parallel.summa import SUMMA
from gpu_course.lessons.tensor_parallel.vocab_parallel_cross_entropy import (
    VOCAB_PARALLEL_CROSS_ENTROPY,
)
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="24_tensor_parallel",
    title="Tensor parallelism",
    part=4,
    minutes=180,
    goal=(
        "You can cut every layer of a transformer among ranks, say what crosses the wire in each "
        "pass and what each rank still holds, and say when cutting stops to pay."
    ),
    puzzles=(
        COLUMN_LINEAR,
        ROW_LINEAR,
        PARALLEL_MLP,
        PARALLEL_ATTENTION,
        VOCAB_PARALLEL_CROSS_ENTROPY,
        SEQUENCE_PARALLEL,
        SUMMA,
    ),
    predictions=PREDICTIONS,
)
