"""Puzzle `int4_matvec`: eight weights from each word, each word once."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.decoding.numbers import within
from gpu_course.puzzle.builders import blocks_to_cover, gives, sized, with_special_numbers
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_ATOMICS, NO_FLOAT64, bytes_stored
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

TPB = 128
WARPS = 4
ROWS = 4
GROUP = 32
PER_WORD = 8
READ_IN_ORDER, _ = IN_ORDER  # a warp has a cell at a time to write
ARGUMENTS = ("out", "packed", "scale", "zero", "x", "rows", "cols")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    groups = cols // GROUP
    # Two sets of 4 random bytes would give the same numbers; words of 32 bits are drawn at once.
    packed = rng.integers(0, 2**32, (rows, cols // PER_WORD), dtype=np.uint32)
    return {
        "packed": packed,
        "scale": within(rng, 0.25, (rows, groups)),
        "zero": rng.integers(3, 13, (rows, groups)).astype(np.uint8),
        "x": within(rng, 2, (cols,)),
        "rows": rows,
        "cols": cols,
    }


def _infinite(values: Values) -> None:
    """An infinity in the last column, which a row in two meets with the weight 0."""
    values["x"][-1] = np.inf
    values["packed"][::2, -1] &= np.uint32(0x0FFFFFFF)
    values["packed"][::2, -1] |= values["zero"][::2, -1].astype(np.uint32) << np.uint32(28)


def _nan(values: Values) -> None:
    values["x"][-2] = np.nan


def unpacked(packed: np.ndarray) -> np.ndarray:
    """Returns the numbers from 0 to 15 that words hold, eight a word, int64 (rows, 8 * words)."""
    places = np.arange(PER_WORD, dtype=np.uint32) * np.uint32(4)
    numbers = (packed[..., None] >> places) & np.uint32(15)
    return numbers.reshape(len(packed), -1).astype(np.int64)


def _product(inputs: Values) -> np.ndarray:
    scale = inputs["scale"].astype(np.float64).repeat(GROUP, axis=1)
    zero = inputs["zero"].astype(np.int64).repeat(GROUP, axis=1)
    weight = (unpacked(inputs["packed"]) - zero) * scale
    return np.asarray((weight * inputs["x"].astype(np.float64)).sum(axis=1), np.float32)


def _launches(case: Case) -> tuple[Launch, ...]:
    grid = blocks_to_cover(case.sizes["rows"], WARPS * ROWS)
    return (Launch("int4_matvec", grid, TPB, ARGUMENTS),)


INT4_MATVEC = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=5, cols=64),
        sized("one row of one group", rows=1, cols=GROUP),
        sized("the rows of one block", rows=WARPS * ROWS, cols=96),
        sized("one row more", rows=WARPS * ROWS + 1, cols=160),
        sized("a word for each lane", rows=6, cols=256),
        sized("a group more", rows=18, cols=288),
        sized("two words and more for each lane", rows=3, cols=608),
        sized("infinity", rows=9, cols=96, infinite=1),
        sized("NaN", rows=2, cols=64, nan=1),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(10, 40)),
        cols=GROUP * int(rng.integers(2, 12)),
    ),
    inputs=with_special_numbers(_inputs, infinite=_infinite, nan=_nan),
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 8192 // 2), cols=8192
    ),
    launches=_launches,
    reference=gives(lambda inputs: _product(inputs)),
    tolerance=(1e-4, 1e-4),
    budgets=(
        Budget(
            "global_load.bytes",
            # A quarter of the packed weights is left over for other ways to fetch the rest.
            lambda case, counters: (
                counters.global_load.bytes + case.sizes["rows"] * case.sizes["cols"] // 8
            ),
            "A word has to come from memory once: what a lane has read it can shift eight times. x "
            "has to come once for its block, whose rows all need it.",
            "bytes loaded",
        ),
        Budget(
            "global_load.requests",
            lambda case, counters: 2 * counters.global_load.requests,
            "One request can bring a warp 32 words, which are 256 weights. How many does each "
            "of yours bring?",
            "requests for global memory",
        ),
        bytes_stored("Each cell of out is written once. The weights need not be written at all."),
        NO_ATOMICS,
        READ_IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most ROWS cells.", ROWS),
)
