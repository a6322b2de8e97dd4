"""Puzzle `segmented_sum`: many sums of neighbours, with few atomics."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES, NO_FLOAT64
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    eighths,
    enough_blocks,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Values


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """Keys that never go down and leave some segments out, the first and the last among them."""
    size, segments = case.sizes["size"], case.sizes["segments"]
    used = np.sort(rng.choice(np.arange(1, segments - 1), case.sizes["used"], replace=False))
    cuts = np.sort(rng.choice(np.arange(1, size), case.sizes["used"] - 1, replace=False))
    lengths = np.diff([0, *cuts, size])
    return {
        "a": eighths(rng, size, case),
        "out": eighths(rng, segments, case),
        "key": np.repeat(used, lengths).astype(np.int32),
        "size": size,
    }


def _put_special_numbers(values: Values) -> None:
    """An infinity at the end of a segment, a NaN at the begin of another, and one at the end."""
    begins = np.flatnonzero(np.diff(values["key"])) + 1
    values["a"][[begins[1] - 1, -1]] = np.inf
    values["a"][begins[4]] = np.nan


def _random(rng: np.random.Generator) -> Case:
    size = int(rng.integers(65, 600))
    used = int(rng.integers(2, size // 4))
    return sized("sizes drawn at random", size=size, segments=used + 5, used=used)


def _sum(key: np.ndarray, out: np.ndarray, parts: np.ndarray) -> np.ndarray:
    found = out.copy()
    np.add.at(found, key, parts)
    return found


SEGMENTED_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100, segments=9, used=6),
        sized("one cell", size=1, segments=3, used=1),
        sized("exactly two blocks, one segment", size=128, segments=5, used=1),
        sized("one cell more than two blocks", size=129, segments=70, used=60),
        sized("500 large numbers", size=500, segments=30, used=20, doublings=90),
        sized("infinities and a NaN", size=100, segments=20, used=12, infinite=1),
    ),
    random_case=_random,
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    large=lambda least_bytes: sized(
        "past L2", size=least_bytes // 8, segments=least_bytes // 64, used=least_bytes // 128
    ),
    launches=enough_blocks("segmented_sum", "out", "key", "a", "size", block=TPB),
    reference=gives(lambda key, out, a: _sum(key, out, a)),
    budgets=(
        Budget(
            "atomic_updates",
            lambda case, counters: counters.atomic_updates,
            "Atomics on one cell are carried out one after the other. Numbers of one segment that "
            "meet in a warp can be added up there, and only the sum goes to out.",
            "atomic additions",
        ),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)
