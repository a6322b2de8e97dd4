"""Puzzle `scan_grid`: the sums up to each number of an array, in three launches."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    running,
)
from gpu_course.lessons.reductions_and_scans.sums import NO_FLOAT64
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Values,
)

WARPS = TPB // WARP


def _launches(case: Case) -> tuple[Launch, ...]:
    tiles = blocks_to_cover(case.sizes["size"], TPB)
    return (
        Launch("scan_tiles", tiles, TPB, ("out", "sums", "a", "size")),
        Launch("scan_sums", 1, TPB, ("sums", "tiles")),
        Launch("add_before", tiles, TPB, ("out", "sums", "size")),
    )


def _with_tiles(rng: np.random.Generator, case: Case) -> Values:
    tiles = blocks_to_cover(case.sizes["size"], TPB)
    return {**arrays("size", a="size")(rng, case), "tiles": tiles}


def _put_special_numbers(values: Values) -> None:
    """An infinity in the first tile, a NaN in the last."""
    values["a"][10], values["a"][-3] = np.inf, np.nan


SCAN_GRID = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=150),
        sized("one cell", size=1),
        sized("exactly two tiles", size=128),
        sized("one cell more than two tiles", size=129),
        sized("more tiles than threads", size=130 * 64 + 1),
        sized("500 large numbers", size=500, doublings=100),
        sized("an infinity, and then a NaN", size=200, infinite=1),
    ),
    random_case=drawn_case(size=(65, 900)),
    inputs=with_special_numbers(_with_tiles, infinite=_put_special_numbers),
    scratch=lambda inputs, case: {"sums": np.zeros(inputs["tiles"], np.float32)},
    launches=_launches,
    reference=gives(running),
    budgets=(
        Budget(
            "global_load.sectors",
            # With sums of what stands before each tile, the first one adds a 0 and reads its sums.
            lambda case, counters: (
                counters.global_load.sectors + counters.global_load.requests + TPB // 8 + WARPS
            ),
            "A number is needed by all that come after it, but only in a sum. Hand sums on: then "
            "each number is loaded once, and once more to add what stands before its tile.",
            "sectors loaded",
        ),
        Budget(
            "barriers",
            lambda case, counters: (
                2 * WARPS * blocks_to_cover(case.sizes["size"], TPB) + counters.barriers
            ),
            "At every barrier all warps of the block wait for the slowest one. Within a warp "
            "shuffles do without; the block has to meet over the sums of its warps alone.",
            "waits of a warp at a barrier",
        ),
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)
