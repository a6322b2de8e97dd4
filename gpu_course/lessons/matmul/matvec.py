"""Puzzle `matvec`: a matrix times a vector, a warp for each row."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import ALL_IN_FLOAT32, product
from gpu_course.lessons.reductions_and_scans.sums import (
    READ_IN_ORDER,
    an_atomic_a_warp,
    ten_shuffles_a_warp,
)
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)

WARPS = 4
LANES = 32


def _of_lanes(a: np.ndarray, x: np.ndarray, lanes: list[int]) -> np.ndarray:
    cols = np.isin(np.arange(a.shape[1]) % LANES, lanes)
    return product(a[:, cols], x[cols])


def _put_special_numbers(values: Values) -> None:
    """An infinity that x multiplies by 0, one at the end of a row, and a NaN."""
    a, values["x"][3] = values["a"], 0
    a[0, 3], a[1, -1], a[2, 4] = np.inf, np.inf, np.nan


def _zero_by_infinity(values: Values) -> None:
    values["a"][0, 3], values["x"][3] = 0, np.inf


def _grid(case: Case) -> int:
    return blocks_to_cover(case.sizes["rows"], WARPS)


DEBRIEF = Debrief(
    shows=("global_load.bytes", "global_load.excess_sectors", "shuffles"),
    why=(
        "The lanes of a warp read 32 neighbouring numbers of one row at a time, so each sector is "
        "fetched once and used whole. Their sums can meet in five shuffles, without a tile."
    ),
    alternative=(
        "In CUDA C++ lanes may also take four neighbours each, by one load of 16 bytes, or a block "
        "may take several rows and keep x in a tile. Either way the matrix has to come through "
        "once, and that is what the time goes into."
    ),
    bonus=Bonus(
        "Load each number of x once for the 4 rows of a block.",
        "global_load.bytes",
        lambda case: 4 * case.sizes["cols"] * (case.sizes["rows"] + _grid(case)),
    ),
)

MATVEC = KernelPuzzle(
    name="06_matmul/matvec",
    title="a matrix times a vector",
    difficulty="easy",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "out[row] is the sum of a[row, col] * x[col]. A warp makes one row: its lanes go along the "
        "row together, and each thread writes at most one cell. Loads must be in order, and all "
        "arithmetic in float32. NaN and infinities count as in any sum, and 0 times infinity is "
        "NaN."
    ),
    parameters={"matvec": ("out", "a", "x", "rows", "cols")},
    cases=(
        sized("visible example", visible=True, rows=6, cols=80),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than a warp", rows=9, cols=21),
        sized("whole warps, large numbers", rows=8, cols=64, doublings=40),
        sized("long rows", rows=4, cols=300),
        sized("infinities, a NaN and a zero in x", rows=5, cols=40, infinite=1),
        sized("a zero that meets an infinity of x", rows=5, cols=40, zero=1),
    ),
    random_case=drawn(rows=(3, 30), cols=(33, 150)),
    inputs=with_special_numbers(
        arrays("rows", "cols", a="rows cols", x="cols"),
        infinite=_put_special_numbers,
        zero=_zero_by_infinity,
    ),
    large=lambda least_bytes: sized(
        "past L2", rows=blocks_to_cover(least_bytes, 4 * 4096), cols=4096
    ),
    launches=lambda case: (
        Launch("matvec", _grid(case), (LANES, WARPS), ("out", "a", "x", "rows", "cols")),
    ),
    reference=gives(lambda a, x: product(a, x)),
    budgets=(
        Budget(
            "global_load.excess_sectors",
            READ_IN_ORDER.limit,
            "In each step the lanes of the warp should read 32 numbers that lie side by side. "
            "Which columns do lanes 0, 1 and 2 read in the first step of your loop?",
            "excess sectors in loads",
        ),
        an_atomic_a_warp(lambda case: case.sizes["rows"]),
        ten_shuffles_a_warp(lambda case: WARPS * blocks_to_cover(case.sizes["rows"], WARPS)),
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(
        ("own-part", lambda a, x: _of_lanes(a, x, [0])),
        ("half-the-lanes", lambda a, x: _of_lanes(a, x, list(range(16)))),
    ),
    diagnoses={
        "out-of-bounds": (
            "The last block may have more warps than there are rows left, or a lane ran past the "
            "end of its row. What tells a warp that it has no row?"
        ),
        "race": (
            "Several threads met at one cell, with nothing to order them. If it is the cell of a "
            "row: first the sums of its lanes have to become one, and then one lane writes it."
        ),
        "inactive-lane": (
            "A shuffle asked a lane that was not there. All 32 lanes have to come to the shuffle, "
            "those too whose result nobody needs."
        ),
        "own-part": (
            "out has what lane 0 found alone. What the other 31 lanes found has to be added to it."
        ),
        "half-the-lanes": (
            "Half of the lanes are missing from your sums: lanes 16 to 31. How far apart are the "
            "lanes that the first shuffle has to bring together?"
        ),
    },
    share=Share("Each thread writes at most one cell."),
    hints=(
        (
            "Two halves: each lane adds up every 32nd product of the row, then the 32 sums become "
            "one. Both are ideas of lessons you know, a stride and a shuffle."
        ),
        (
            "A lane starts at its own number and goes on in steps of 32. `shfl_down_sync` gives a "
            "lane the value of the lane `step` further on; with steps of 16, 8, 4, 2 and 1, lane 0 "
            "has it all."
        ),
        (
            "Guard the whole row with one condition on row, which is the same for all lanes of a "
            "warp. Let every lane do each of the five shuffles, and only lane 0 write. Begin the "
            "sum with a float32."
        ),
    ),
    mistakes=(
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("every_lane_writes", "hazard", "race"),
        Mistake("only_low_lanes_shuffle", "hazard", "inactive-lane"),
        Mistake("lanes_never_meet", "wrong-result", "own-part"),
        Mistake("four_steps", "wrong-result", "half-the-lanes"),
        Mistake("a_piece_for_each_lane", "over-budget", "over-budget"),
        Mistake("sum_in_float64", "over-budget", "over-budget"),
        Mistake("one_lane_for_a_row", "over-budget", "not-shared"),
        Mistake("one_warp_for_all_rows", "over-budget", "not-shared"),
    ),
    constants={"WARPS": WARPS, "ALL": 0xFFFFFFFF},
)
