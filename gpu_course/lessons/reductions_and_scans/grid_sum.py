"""Puzzle `grid_sum`: one sum by many blocks, in two launches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    TPB,
    WARPS,
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    drawn_case,
    eighths,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Values
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER, an_atomic_a_warp

BLOCKS = 4


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {
        "a": eighths(rng, case.sizes["size"], case),
        "size": case.sizes["size"],
        "blocks": _blocks(case),
    }


def _infinite_at_the_end(values: Values) -> None:
    values["a"][-1] = np.inf


def _one_nan(values: Values) -> None:
    values["a"][3] = np.nan


def _blocks(case: Case) -> int:
    return case.sizes.get("blocks", BLOCKS)


def _total(a: np.ndarray) -> dict[str, np.ndarray]:
    return {"total": summed([a])}


GRID_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=600),
        sized("one cell", size=1),
        sized("31 cells", size=31),
        sized("33 cells", size=33),
        sized("as many cells as threads", size=512),
        sized("three of four loads", size=1300),
        sized("four of four loads", size=1811),
        sized("2,311 large numbers", size=2311, doublings=90),
        sized("an infinite number at the end", size=600, infinite=1),
        sized("a NaN", size=33, nan=1),
    ),
    random_case=drawn_case(size=(520, 2000)),
    # A few blocks for each multiprocessor of any card.
    large=lambda least_bytes: sized("past L2", size=-(-least_bytes // 4), blocks=512),
    inputs=with_special_numbers(_inputs, infinite=_infinite_at_the_end, nan=_one_nan),
    launches=lambda case: (
        Launch("grid_sum", _blocks(case), TPB, ("partial", "a", "size")),
        Launch("grid_sum", 1, TPB, ("total", "partial", "blocks")),
    ),
    scratch=lambda inputs, case: {"partial": np.zeros(_blocks(case), np.float32)},
    reference=gives(_total),
    budgets=(
        replace(READ_IN_ORDER, fact="a is not read in order"),
        AS_FEW_BARRIERS,
        an_atomic_a_warp(lambda case: WARPS * (_blocks(case) + 1)),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)
