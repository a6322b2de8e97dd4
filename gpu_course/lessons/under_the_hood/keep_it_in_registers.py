"""Puzzle `keep_it_in_registers`: a local array that no index of unknown value touches."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.lessons.under_the_hood.pieces import IN_FLOAT32, TPB
from gpu_course.puzzle.builders import arrays, blocks_to_cover, drawn_case, gives, sized, special
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Launch, Share

ROWS = 32
ONE_IN_THE_LAST_ROW = (math.nan, math.inf, 0.0, -math.inf)
"""An infinity stands alone in its column, at the end: not all of the column is NaN then."""


def _centred(a: np.ndarray) -> np.ndarray:
    wide = a.astype(np.float64)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        return (wide - wide.mean(axis=0)).astype(np.float32)


KEEP_IT_IN_REGISTERS = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=6, cols=40),
        sized("one number", rows=1, cols=1),
        sized("as many rows as there are places", rows=ROWS, cols=9),
        sized("one row less", rows=ROWS - 1, cols=3),
        sized("one column more than a block", rows=2, cols=TPB + 1),
        special("NaN and infinities", ONE_IN_THE_LAST_ROW, rows=5, cols=21),
    ),
    random_case=drawn_case(rows=(3, ROWS + 1), cols=(20, 50)),
    inputs=arrays("rows", "cols", a="rows cols"),
    launches=lambda case: (
        Launch(
            "keep_it_in_registers",
            blocks_to_cover(case.sizes["cols"], TPB),
            TPB,
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(_centred),
    tolerance=(0.0, 1e-3),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["rows"] * case.sizes["cols"],
            "Each number is needed twice: for the mean, and once the mean is known. Where can a "
            "thread keep it in between?",
            "bytes loaded",
        ),
        Budget(
            "shared_bytes",
            0,
            "No thread needs what another has loaded, so nothing has to be shared. A register is "
            "nearer, and takes no room from other blocks.",
            "bytes of shared memory",
        ),
        Budget(
            "indexed_bytes",
            0,
            "A register has no address, so the compiler must put a number for each index. With "
            "one that it cannot know, the array lies in local memory, or each access looks "
            "through all places. Which part of the index below is no number yet?",
            fact="an array has an index that only the run knows",
        ),
        IN_FLOAT32,
    ),
    share=Share(
        "A thread has a column: it writes no cell of any other.",
        lambda case, output: case.sizes["rows"],
    ),
)
