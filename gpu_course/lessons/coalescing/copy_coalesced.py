"""Puzzle `copy_coalesced`: several cells for each thread, in order."""

from __future__ import annotations

from gpu_course.lessons.coalescing.pieces import TPB, loads_in_order, stores_in_order
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import KernelPuzzle, Launch, Share

PER_THREAD = 4
PIECE = TPB * PER_THREAD


COPY_COALESCED = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=300),
        sized("one cell", size=1),
        sized("exactly two pieces", size=2 * PIECE),
        sized("one cell more than two pieces", size=2 * PIECE + 1),
        sized("1,003 large numbers", size=1003, doublings=100),
        special("NaN and infinities", size=301),
    ),
    random_case=drawn_case(size=(PIECE + 1, 1400)),
    inputs=arrays("size", a="size"),
    launches=lambda case: (
        Launch(
            "copy_coalesced",
            blocks_to_cover(case.sizes["size"], PIECE),
            TPB,
            ("out", "a", "size"),
        ),
    ),
    reference=gives(lambda a: a.copy()),
    budgets=(
        loads_in_order(
            "The 32 lanes of a warp load at the same moment. Which cells do lanes 0, 1 and 2 "
            "load in one such moment, and do they lie side by side?"
        ),
        stores_in_order(
            "The 32 lanes of a warp store at the same moment. Which cells do lanes 0, 1 and 2 "
            "write in one such moment, and do they lie side by side?"
        ),
    ),
    share=Share("Each thread copies at most PER_THREAD cells.", PER_THREAD),
)
