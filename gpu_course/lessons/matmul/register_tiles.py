"""What the puzzles share whose threads make 64 results each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_course.lessons.matmul.pieces import (
    ARGUMENTS,
    drawn_sides,
    large_square,
    product,
    put_special_numbers,
    sides,
    square_grid,
)
from gpu_course.puzzle.builders import arrays, gives, with_special_numbers
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, Launch, Share

TILE = 64
K_TILE = 8
EACH = 8
PADDED = TILE + 4
"""Words of a row of a tile that is turned when it is filled, and read four words at a time."""
BLOCK = (EACH, EACH)

# Every step along k is a thousand instructions for the simulator, so k is short.
CASES: tuple[Case, ...] = (
    sides("visible example", 40, 70, 12, visible=True),
    sides("one cell", 1, 1, 3),
    sides("exactly one square, large numbers", 64, 64, 8, doublings=30),
    sides("a row and a column more than a square", 65, 66, 17),
    sides("infinities, a NaN and zeros", 5, 6, 9, infinite=1),
)
random_case = drawn_sides((9, 70), (9, 70), (9, 14))

inputs = with_special_numbers(
    arrays("m", "n", "k", a="m k", b="k n"), infinite=put_special_numbers("a", "b")
)

SHARE = Share("Each thread makes 64 cells of the square.", EACH * EACH)

FROM_REGISTERS = Budget(
    "shared_load.requests",
    lambda case, counters: counters.shared_load.requests,
    "A number that a thread takes from a tile is good for 8 of its products. Take the 8 numbers of "
    "a and the 8 of b once for each p, and make 64 products of them.",
    "requests to shared memory",
)

IN_FOURS = Budget(
    "wide_loads",
    lambda case, counters: counters.wide_loads,
    "One load brings four numbers where they are neighbours in a tile and the first is at a "
    "multiple of four. For one p, which places of a row of each tile does a thread read?",
    "loads from the tiles, with four numbers each",
)


def register_tiled(file: str) -> dict[str, Any]:
    """Returns the fields of such a puzzle that do not depend on how its tiles get their numbers.

    Args:
        file: of the puzzle, as for `puzzle_fields`; its function is called as the file is.
    """
    function = Path(file).stem
    return {
        **puzzle_fields(file),
        "cases": CASES,
        "random_case": random_case,
        "inputs": inputs,
        "large": large_square,
        "launches": lambda case: (Launch(function, square_grid(case, TILE), BLOCK, ARGUMENTS),),
        "reference": gives(lambda a, b: product(a, b)),
        "share": SHARE,
    }
