"""Puzzle `gather`: read from anywhere."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    drawn_case,
    eighths,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Values


def _table_and_tape(rng: np.random.Generator, case: Case) -> Values:
    size, length = case.sizes["size"], case.sizes["length"]
    index = rng.integers(0, length, size).astype(np.int32)
    if size > 2:
        # The same cell asked for twice, and never in order: a scatter must collide.
        index[-1] = index[0]
        if index[1] == index[0]:
            index[1] = (index[0] + 1) % length
    return {
        "table": eighths(rng, length, case),
        "index": index,
        "tape": eighths(rng, size, case),
        "shift": case.sizes["shift"],
        "size": size,
    }


def _three_launches(case: Case) -> tuple[Launch, ...]:
    grid, block = blocks_to_cover(case.sizes["size"], case.sizes["block"]), case.sizes["block"]
    return (
        Launch("gather", grid, block, ("gathered", "table", "index", "size")),
        Launch("gather_reversed", grid, block, ("reversed", "tape", "size")),
        Launch("gather_shifted", grid, block, ("shifted", "tape", "shift", "size")),
    )


def _three_results(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {
        "gathered": inputs["table"][inputs["index"]],
        "reversed": inputs["tape"][::-1].copy(),
        "shifted": np.roll(inputs["tape"], inputs["shift"]),
    }


GATHER = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=10, length=10, shift=3, block=4),
        sized("one cell", size=1, length=3, shift=2, block=4),
        sized("exactly two blocks", size=64, length=50, shift=21, block=32),
        sized("a short table, a shift to the left", size=100, length=7, shift=-5, block=32),
        sized("a long table, a shift past the end", size=37, length=500, shift=90, block=16),
        sized("large numbers", size=300, length=40_000, shift=-7000, block=128, doublings=100),
        special("NaN and infinities", size=41, length=23, shift=9, block=16),
    ),
    random_case=drawn_case(size=(3, 300), length=(2, 300), shift=(1, 900), block=[16, 24, 32]),
    # Six arrays of four-byte numbers, the table as long as the others.
    large=lambda least_bytes: sized(
        "past L2", size=-(-least_bytes // 24), length=-(-least_bytes // 24), shift=90, block=256
    ),
    inputs=_table_and_tape,
    launches=_three_launches,
    reference=_three_results,
    share=ONE_CELL_EACH,
)
