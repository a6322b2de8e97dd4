"""Puzzle `grid_stride`: any size with a fixed grid."""

from __future__ import annotations

from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn_case,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share


def _even_share(case: Case) -> int:
    """The most cells of a thread where blocks share the cells, and a block's threads its cells."""
    return blocks_to_cover(
        blocks_to_cover(case.sizes["size"], case.sizes["grid"]), case.sizes["block"]
    )


GRID_STRIDE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=19, grid=2, block=4),
        sized("one cell", size=1, grid=2, block=4),
        sized("fewer cells than threads", size=13, grid=4, block=8),
        sized("a whole number of strides", size=96, grid=3, block=16),
        sized("1,000 cells", size=1000, grid=3, block=32),
        sized("a single block", size=77, grid=1, block=32),
        sized("3,300 large numbers, half a warp", size=3300, grid=1, block=16, doublings=10),
        special("NaN and infinities", size=77, grid=2, block=8),
    ),
    random_case=drawn_case(size=(2, 700), grid=(2, 6), block=[8, 24, 32]),
    inputs=arrays("size", a="size", b="size"),
    launches=lambda case: (
        Launch("grid_stride", case.sizes["grid"], case.sizes["block"], ("out", "a", "b", "size")),
    ),
    # Three arrays of float32, and a grid of a few blocks for each multiprocessor of any card.
    large=lambda least_bytes: sized("past L2", size=-(-least_bytes // 12), grid=1024, block=256),
    reference=gives(lambda a, b: a - b),
    share=Share(
        "The cells are shared evenly among the threads.", lambda case, output: _even_share(case)
    ),
)
