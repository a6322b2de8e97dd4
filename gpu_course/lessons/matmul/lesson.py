"""The puzzles of lesson 06 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.matmul.batched_matmul import BATCHED_MATMUL
from gpu_course.lessons.matmul.matmul_bias_gelu import MATMUL_BIAS_GELU
from gpu_course.lessons.matmul.matmul_double_buffered import MATMUL_DOUBLE_BUFFERED
from gpu_course.lessons.matmul.matmul_naive import MATMUL_NAIVE
from gpu_course.lessons.matmul.matmul_register import MATMUL_REGISTER
from gpu_course.lessons.matmul.matmul_tiled import MATMUL_TILED
from gpu_course.lessons.matmul.matvec import MATVEC
from gpu_course.lessons.matmul.predictions import PREDICTIONS
from gpu_course.lessons.matmul.spmv_csr import SPMV_CSR
from gpu_course.lessons.matmul.tiles_and_waves import TILES_AND_WAVES
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="06_matmul",
    title="Matrix multiplication",
    part=1,
    minutes=270,
    goal=(
        "You can write a matrix product whose every load is used many times over, say what each "
        "step of the way there saves, and tell from its size how much of a GPU it can use."
    ),
    puzzles=(
        MATMUL_NAIVE,
        MATVEC,
        MATMUL_TILED,
        BATCHED_MATMUL,
        MATMUL_REGISTER,
        MATMUL_DOUBLE_BUFFERED,
        MATMUL_BIAS_GELU,
        TILES_AND_WAVES,
        SPMV_CSR,
    ),
    predictions=PREDICTIONS,
)
