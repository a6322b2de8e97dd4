"""Puzzle `clip`: keep it between two limits."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.threads.pieces import SEVERAL_BLOCKS
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    blocks_to_cover,
    drawn_case,
    eighths,
    enough_blocks,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Bonus, Case, KernelPuzzle, Values


def _numbers_and_limits(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a = eighths(rng, size, case)
    ordered = np.sort(a)
    if size < 4:
        low, high = ordered[0] + np.float32(1), ordered[0] + np.float32(3)
    else:
        # Limits that occur in the data: equality with a limit is one of the cases. With a side
        # both lie on that side of 0, so a number's sign says nothing on where it belongs.
        side = case.sizes.get("side", 0)
        kept = ordered[np.sign(ordered) == side] if side else ordered
        low, high = kept[len(kept) // 4], kept[(3 * len(kept)) // 4]
    return {"a": a, "low": low, "high": high, "size": size}


def _clipped(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {"out": np.minimum(np.maximum(inputs["a"], inputs["low"]), inputs["high"])}


CLIP = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        *SEVERAL_BLOCKS,
        sized("1,000 large numbers", size=1000, block=128, doublings=100),
        sized("both limits above 0", size=50, block=16, side=1),
        sized("both limits below 0", size=50, block=16, side=-1),
        special("infinities", INFINITIES, size=77, block=16),
    ),
    random_case=drawn_case(size=(32, 600), block=[16, 24, 32, 64], side=[-1, 0, 1]),
    inputs=_numbers_and_limits,
    launches=enough_blocks("clip", "out", "a", "low", "high", "size"),
    reference=_clipped,
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "branches",
        lambda case: (
            blocks_to_cover(case.sizes["size"], case.sizes["block"])
            * blocks_to_cover(case.sizes["block"], 32)
        ),
    ),
)
