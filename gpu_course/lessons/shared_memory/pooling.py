"""Puzzle `pooling`: the largest of the last four."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_course.lessons.shared_memory.pieces import TPB, WARP, clamped_bytes
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    Idea,
    arrays,
    drawn,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Values,
)

WINDOW = 4


def _windows(a: np.ndarray, first: int, last: int) -> list[np.ndarray]:
    """The columns `first` to `last` places to the right of each column, NaN beyond the row."""
    rows, cols = a.shape
    wide = np.full((rows, cols + 2 * WINDOW), np.nan, np.float32)
    wide[:, WINDOW : WINDOW + cols] = a
    return [wide[:, WINDOW + at : WINDOW + at + cols] for at in range(first, last + 1)]


def _largest(a: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.fmax.reduce(_windows(a, first, last))


def _began_too_high_or(
    *ideas: tuple[str, Idea],
) -> Callable[[Values, Case, Values, Values], str | None]:
    """Knows the ideas, and one number in all wrong cells that is larger than any wanted."""
    known = recognise(*ideas)

    def diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
        key = known(inputs, case, expected, got)
        wrong = got["out"] != expected["out"]
        found, wanted = got["out"][wrong], expected["out"][wrong]
        if key is None and found.size and (found == found[0]).all() and (wanted < found).all():
            return "began-too-high"
        return key

    return diagnose


def _pooling_reads(case: Case) -> int:
    """The tile is read for the neighbours alone."""
    cols = case.sizes["cols"]
    first = min(WINDOW - 1, cols - 1)
    return case.sizes["rows"] * (first + (WINDOW - 1 if cols > WARP else 0))


def _at_least_zero(inputs: Values) -> dict[str, np.ndarray]:
    return {"out": np.maximum(_largest(inputs["a"], 1 - WINDOW, 0), np.float32(0))}


def _summed(inputs: Values) -> dict[str, np.ndarray]:
    with np.errstate(over="ignore"):
        total = np.nansum(_windows(inputs["a"], 1 - WINDOW, 0), axis=0, dtype=np.float32)
    return {"out": np.asarray(total)}


POOLING = KernelPuzzle(
    **told(__file__),
    cases=(
        sized("visible example", visible=True, rows=3, cols=12),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than the window", rows=4, cols=3),
        sized("a thread for every column", rows=5, cols=64),
        sized("two warps, not quite", rows=7, cols=51),
        sized("numbers near the ends of float32", rows=7, cols=50, doublings=122),
        special("infinities", (-math.inf, *INFINITIES), rows=5, cols=37),
    ),
    random_case=drawn(rows=(2, 12), cols=(6, 65)),
    inputs=arrays("cols", a="rows cols"),
    launches=lambda case: (Launch("pooling", case.sizes["rows"], TPB, ("out", "a", "cols")),),
    reference=gives(lambda a: _largest(a, 1 - WINDOW, 0)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: (
                4 * case.sizes["rows"] * case.sizes["cols"] + clamped_bytes(case.sizes["rows"])
            ),
            "Each number is wanted by up to WINDOW threads and should come from global memory "
            "once; the others find it in the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=_began_too_high_or(
        ("began-at-zero", _at_least_zero),
        ("looked-ahead", lambda a: _largest(a, 0, WINDOW - 1)),
        ("window-short", lambda a: _largest(a, 2 - WINDOW, 0)),
        ("summed", _summed),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shared_load.requests",
        _pooling_reads,
    ),
)
