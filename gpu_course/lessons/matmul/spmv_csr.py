"""Puzzle `spmv_csr`: a sparse matrix times a vector, a warp for each row."""

from __future__ import annotations

import itertools

import numpy as np

from gpu_course.lessons.matmul.pieces import ALL_IN_FLOAT32
from gpu_course.puzzle.builders import (
    blocks_to_cover,
    drawn_case,
    eighths,
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
    Share,
    Values,
)
from gpu_course.puzzle.warp_budgets import an_atomic_a_warp, ten_shuffles_a_warp

WARPS = 4
LANES = 32
ARGUMENTS = ("out", "values", "columns", "starts", "x", "rows")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """A matrix with rows of very different lengths, one of them empty and one full where there
    are enough rows.

    With "unasked" the first and the last column are empty, and x is no number there: no sum may
    take it in, not even multiplied by 0.
    """
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    unasked = bool(case.sizes.get("unasked", 0))
    asked = np.arange(unasked, cols - unasked)
    lengths = rng.integers(1, min(len(asked), case.sizes["longest"]) + 1, rows)
    if rows > 3:
        empty, full = rng.permutation(rows)[:2]
        lengths[empty], lengths[full] = 0, len(asked)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = np.concatenate([np.sort(rng.permutation(asked)[:length]) for length in lengths])
    x = eighths(rng, cols, case)
    if unasked:
        x[[0, -1]] = np.nan
    return {
        "values": eighths(rng, int(starts[-1]), case),
        "columns": columns.astype(np.int32),
        "starts": starts,
        "x": x,
        "rows": rows,
    }


def _put_special_numbers(values: Values) -> None:
    """In some row each: an infinity that x multiplies by 0, a 0 by an infinite x, an infinity at
    the row's end, and a NaN."""
    entries, columns, starts = values["values"], values["columns"], values["starts"]
    lengths = np.diff(starts)
    full = int(np.argmax(lengths))
    rows = np.flatnonzero((lengths > 1) & (np.arange(len(lengths)) != full))
    first = starts[rows]
    values["x"][columns[first[0]]] = 0
    entries[first[0]] = np.inf
    values["x"][columns[starts[full + 1] - 1]] = np.inf
    entries[starts[full + 1] - 1] = 0
    entries[starts[rows[2] + 1] - 1] = np.inf
    entries[first[3]] = np.nan


def _sums(products: np.ndarray, starts: np.ndarray) -> np.ndarray:
    rows = [products[first:end] for first, end in itertools.pairwise(starts)]
    return np.array([row.sum() for row in rows], dtype=np.float32)


def _products(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    return values.astype(np.float64) * x.astype(np.float64)


def _reference(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, x: np.ndarray
) -> np.ndarray:
    return _sums(_products(values, x[columns]), starts)


SPMV_CSR = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, rows=6, cols=50, longest=40),
        sized("one cell", rows=1, cols=1, longest=1),
        sized("short rows", rows=21, cols=30, longest=8),
        sized(
            "rows longer than a warp, large numbers", rows=8, cols=200, longest=150, doublings=30
        ),
        sized("x is no number where no row asks", rows=9, cols=40, longest=33, unasked=1),
        sized("infinities, a NaN and zeros", rows=9, cols=40, longest=33, infinite=1),
    ),
    random_case=drawn_case(rows=(4, 30), cols=(40, 150), longest=(33, 60)),
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    launches=lambda case: (
        Launch("spmv_csr", blocks_to_cover(case.sizes["rows"], WARPS), (LANES, WARPS), ARGUMENTS),
    ),
    reference=gives(_reference),
    budgets=(
        Budget(
            "global_load.sectors",
            # A row begins and ends in the middle of a sector, in values and in columns. Where lanes
            # begin at a sector's start, or take two steps at once, they may touch both ends again.
            lambda case, counters: counters.global_load.sectors + 4 * case.sizes["rows"],
            "In each step the lanes of the warp should take 32 entries that lie side by side. "
            "Which entries do lanes 0, 1 and 2 take in the first step of your loop?",
            "sectors loaded",
        ),
        an_atomic_a_warp(lambda case: case.sizes["rows"]),
        ten_shuffles_a_warp(lambda case: WARPS * blocks_to_cover(case.sizes["rows"], WARPS)),
        ALL_IN_FLOAT32,
    ),
    share=Share("Each thread writes at most one cell."),
)
