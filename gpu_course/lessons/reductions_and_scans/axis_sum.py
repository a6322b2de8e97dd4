"""Puzzle `axis_sum`: the sum of every row, a warp for each."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    ALL_LANES,
    NO_FLOAT64,
    READ_IN_ORDER,
    WARP,
    an_atomic_a_warp,
    summed,
    ten_shuffles_a_warp,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Budget, Debrief, KernelPuzzle, Launch, Mistake, Values

ROWS = 4


def _put_special_numbers(values: Values) -> None:
    """An infinity at the end of some rows, the last among them; a NaN in another."""
    values["a"][::5, -1] = np.inf
    values["a"][2, 3] = np.nan


def _half_of_the_lanes(a: np.ndarray) -> np.ndarray:
    """Distances from 8 on bring together 16 lanes: 0 to 15."""
    return summed(list(a[:, np.arange(a.shape[1]) % WARP < WARP // 2]))


DEBRIEF = Debrief(
    shows=("global_load.sectors", "global_load.excess_sectors", "shuffles", "barriers"),
    why=(
        "The lanes of a warp read neighbouring cells of their row and exchange their sums without "
        "the tile. Rows have nothing to tell each other, so no warp waits for another."
    ),
    alternative=(
        "Long rows are better shared by a whole block, and many short ones by a part of a warp: "
        "eight lanes of a warp can sum a row of eight by three shuffles."
    ),
)

AXIS_SUM = KernelPuzzle(
    name="05_reductions_and_scans/axis_sum",
    title="the sum of every row",
    difficulty="easy",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "out[row] is the sum of a row of a; in PyTorch a.sum(dim=1). A block is 32 threads wide "
        "and ROWS high, so that each of its warps has a row of its own. The lanes read along the "
        "row in order, exchange their sums by shuffles, and no barrier is needed. Each thread "
        "writes at most one cell, and 31 of 32 write none. NaN and infinities count as in any sum, "
        "each in its own row."
    ),
    parameters={"axis_sum": ("out", "a", "rows", "cols")},
    cases=(
        sized("visible example", visible=True, rows=6, cols=40),
        sized("one cell", rows=1, cols=1),
        sized("31 columns", rows=4, cols=31),
        sized("33 columns", rows=5, cols=33),
        sized("many short rows", rows=19, cols=3),
        sized("large numbers", rows=7, cols=75, doublings=90),
        sized("infinities and a NaN", rows=6, cols=35, infinite=1),
    ),
    random_case=drawn(rows=(2, 13), cols=(17, 100)),
    inputs=with_special_numbers(
        arrays("rows", "cols", a="rows cols"), infinite=_put_special_numbers
    ),
    launches=lambda case: (
        Launch(
            "axis_sum",
            blocks_to_cover(case.sizes["rows"], ROWS),
            (WARP, ROWS),
            ("out", "a", "rows", "cols"),
        ),
    ),
    reference=gives(lambda a: summed(list(a))),
    budgets=(
        READ_IN_ORDER,
        Budget(
            "barriers",
            0,
            "A row belongs to one warp, and its lanes can exchange their sums by shuffles. A "
            "barrier makes the rows of a block wait for each other.",
            "barriers, counted warp by warp",
        ),
        an_atomic_a_warp(lambda case: case.sizes["rows"]),
        ten_shuffles_a_warp(lambda case: ROWS * blocks_to_cover(case.sizes["rows"], ROWS)),
        NO_FLOAT64,
    ),
    diagnose=recognise(
        ("columns-left-out", lambda a: summed(list(a[:, :WARP]))),
        ("step-missing", _half_of_the_lanes),
    ),
    diagnoses={
        "race": (
            "Several threads met at one cell, with nothing to order them. If it is the cell of a "
            "row: after the shuffles, which lane holds the sum of all 32?"
        ),
        "race in global memory": (
            "Several threads met at one cell, with nothing to order them. If it is the cell of a "
            "row: after the shuffles, which lane holds the sum of all 32?"
        ),
        "out-of-bounds": (
            "The last block may have more warps than rows are left. Which warps have a row, and "
            "which columns does it have?"
        ),
        "inactive-lane": (
            "A shuffle names 32 lanes, and those without a column did not come to it. They have a "
            "sum too, that of no cells."
        ),
        "columns-left-out": (
            "Only the first 32 columns are in your sums. A lane may have more than one cell of its "
            "row."
        ),
        "step-missing": (
            "Only half of the lanes are in your sums. How far is lane 16 from lane 0, and which "
            "shuffle brings its sum?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "Treat a row as `dot` treated its cells, but within one warp: there is no tile at all.",
        (
            "A lane begins at the column of its own number and goes on in steps of 32. Then come "
            "five shuffles, by all lanes of the warp."
        ),
        (
            "The guard asks for the row alone. It is the same for all lanes of a warp, so all 32 "
            "come to the shuffles, also those that met no column and still have 0."
        ),
    ),
    mistakes=(
        Mistake("every_lane_writes", "hazard", "race"),
        Mistake("rows_unguarded", "hazard", "out-of-bounds"),
        Mistake("lanes_without_a_column_left_out", "hazard", "inactive-lane"),
        Mistake("one_column_for_each_lane", "wrong-result", "columns-left-out"),
        Mistake("began_at_eight", "wrong-result", "step-missing"),
        Mistake("a_stretch_for_each_lane", "over-budget", "over-budget"),
        Mistake("tree_in_shared_memory", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_lane_for_a_row", "over-budget", "not-shared"),
    ),
    constants={"ROWS": ROWS, "ALL_LANES": ALL_LANES},
    source="after 'Axis Sum' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)
