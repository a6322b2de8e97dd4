"""Puzzle `spmv_csr`: a sparse matrix times a vector, a warp for each row."""

from __future__ import annotations

import itertools

import numpy as np

from gpu_course.lessons.matmul.pieces import ALL_IN_FLOAT32
from gpu_course.lessons.reductions_and_scans.sums import an_atomic_a_warp, ten_shuffles_a_warp
from gpu_course.puzzle.builders import (
    blocks_to_cover,
    drawn,
    eighths,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import (
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


def _lane_zero(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, x: np.ndarray
) -> np.ndarray:
    places = np.arange(len(values)) - np.repeat(starts[:-1], np.diff(starts))
    return _sums(_products(values, x[columns]) * (places % LANES == 0), starts)


def _one_short(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, x: np.ndarray
) -> np.ndarray:
    products = _products(values, x[columns])
    products[starts[1:][np.diff(starts) > 0] - 1] = 0
    return _sums(products, starts)


def _empty_left_out(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, x: np.ndarray
) -> np.ndarray:
    return np.where(np.diff(starts) > 0, _reference(values, columns, starts, x), np.float32(np.nan))


def _zero_times_x(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, x: np.ndarray
) -> np.ndarray:
    idle = np.diff(starts) % LANES != 0  # in the last step some lanes have no entry
    spoilt = idle & bool(np.isnan(x).any())
    return np.where(spoilt, np.float32(np.nan), _reference(values, columns, starts, x))


def _by_entry(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, x: np.ndarray
) -> np.ndarray:
    places = np.arange(len(values)) - np.repeat(starts[:-1], np.diff(starts))
    return _sums(_products(values, x[places % len(x)]), starts)


DEBRIEF = Debrief(
    shows=("global_load.bytes", "global_load.excess_sectors", "shuffles"),
    why=(
        "Values and columns lie side by side, entry by entry, so 32 lanes read them in order. What "
        "x costs depends on the matrix: each lane reads where its entry's column sends it."
    ),
    alternative=(
        "For rows of a few entries a warp is too much: let 2, 4 or 8 lanes have a row each. Where "
        "rows differ by thousands, the entries are shared out evenly and the sums cut at the rows."
    ),
)

SPMV_CSR = KernelPuzzle(
    name="06_matmul/spmv_csr",
    title="a sparse matrix times a vector",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Most numbers of the matrix are 0 and are not kept. Row r has the entries from starts[r] "
        "up to starts[r + 1]; entry e stands for values[e] in column columns[e]. out[r] is the sum "
        "of value * x[column] over the row's entries, 0 where there are none. A warp makes one "
        "row, with its lanes side by side, and each thread writes at most one cell. An entry "
        "counts even where its value or its x is 0, for 0 times infinity is NaN. What x holds in "
        "other columns, NaN or not, counts nowhere."
    ),
    parameters={"spmv_csr": ARGUMENTS},
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
    random_case=drawn(rows=(4, 30), cols=(40, 150), longest=(33, 60)),
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
    diagnose=recognise(
        ("own-part", _lane_zero),
        ("one-short", _one_short),
        ("empty-rows", _empty_left_out),
        ("zero-times-nan", _zero_times_x),
        ("by-entry", _by_entry),
    ),
    diagnoses={
        "out-of-bounds": (
            "The last block may have more warps than there are rows left. Or an index went to the "
            "wrong array: entries number values and columns, columns number x."
        ),
        "race": (
            "Several threads met at one cell, with nothing to order them. If it is the cell of a "
            "row: first the sums of its lanes have to become one, and then one lane writes it."
        ),
        "inactive-lane": (
            "A shuffle asked a lane that was not there. All 32 lanes have to come to the shuffle, "
            "those too that had no entry."
        ),
        "done-again": (
            "A lane took all entries of a row, or nearly. The row has a warp of its own: which "
            "part of it is left for one lane when all 32 take part?"
        ),
        "own-part": (
            "out has what lane 0 found alone. What the other 31 lanes found has to be added to it."
        ),
        "one-short": (
            "The last entry of every row is missing. starts[r + 1] is where the next row begins, "
            "and Python's range ends before its end already."
        ),
        "empty-rows": (
            "The rows without entries were never written. Their sum is 0, and somebody has to "
            "write it."
        ),
        "zero-times-nan": (
            "x holds NaN in columns where the matrix has no entry, and it came into your sums. 0 "
            "times NaN is NaN. Which cell of x does a lane read that has no entry left?"
        ),
        "by-entry": (
            "You multiplied the row's entries with the first numbers of x, in order. Which column "
            "an entry stands in is kept in an array of its own."
        ),
    },
    share=Share("Each thread writes at most one cell."),
    hints=(
        (
            "It is matvec, with a row's entries in place of its columns. Where does a row begin in "
            "values, and where does it end?"
        ),
        (
            "Lane 0 starts at the row's first entry, lane 1 at the second, and all go on in steps "
            "of 32. Entry e needs two numbers of its own and one of x."
        ),
        (
            "A loop from starts[row] + lane up to starts[row + 1] is empty by itself where the row "
            "is. Its lanes then bring a 0 into the five shuffles, and lane 0 writes it."
        ),
    ),
    mistakes=(
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("every_lane_writes", "hazard", "race"),
        Mistake("lanes_never_meet", "wrong-result", "own-part"),
        Mistake("one_entry_short", "wrong-result", "one-short"),
        Mistake("skips_empty_rows", "wrong-result", "empty-rows"),
        Mistake("zero_times_any_x", "wrong-result", "zero-times-nan"),
        Mistake("x_by_entry", "wrong-result", "by-entry"),
        Mistake("a_piece_for_each_lane", "over-budget", "over-budget"),
        Mistake("sum_in_float64", "over-budget", "over-budget"),
        Mistake("one_warp_for_all_rows", "over-budget", "not-shared"),
    ),
    constants={"WARPS": WARPS, "ALL": 0xFFFFFFFF},
    source=(
        "after Nathan Bell and Michael Garland, 'Efficient Sparse Matrix-Vector Multiplication on "
        "CUDA', NVIDIA Technical Report NVR-2008-004, 2008"
    ),
)
