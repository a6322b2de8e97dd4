"""What is particular to the puzzles of lesson 04: their budgets, banks and ragged blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_course.catalog.lesson_04_shared_memory import LESSON
from gpu_course.catalog.specification import KernelPuzzle
from gpu_course.grading.kernel.budgets import counter
from gpu_course.simt.report import Counters
from gpu_course.simulator import simulate
from tests.catalog import rules

PUZZLES: dict[str, KernelPuzzle] = {
    puzzle.short_name: puzzle for puzzle in LESSON.puzzles if isinstance(puzzle, KernelPuzzle)
}
TPB = 64


@pytest.mark.parametrize("name", ["pooling", "stencil_halo", "conv1d", "box_blur_2d"])
def test_the_budget_of_bytes_is_exactly_what_the_solution_loads(name: str) -> None:
    puzzle = PUZZLES[name]
    (budget,) = puzzle.budgets
    for case in rules.cases_and_random(puzzle):
        assert callable(budget.limit)
        loaded = counter(counters_of(name, case), budget.counter)
        assert loaded == budget.limit(case, Counters()), case


def counters_of(name: str, case: Any) -> Counters:
    puzzle = PUZZLES[name]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    values = {**inputs, **puzzle.outputs(inputs, case)}
    total = Counters()
    for launch in puzzle.launches(case):
        kernel = f"{rules.SOLUTIONS / puzzle.name}.py:{launch.function}"
        total += simulate(kernel)[launch.grid, launch.block](
            *(values[n] for n in launch.args)
        ).counters
    return total


def test_a_column_of_the_square_tile_lies_in_one_bank_and_of_the_padded_one_in_all() -> None:
    whole = PUZZLES["transpose_tiled"].cases[0]
    tiled, padded = (counters_of(name, whole) for name in ("transpose_tiled", "transpose_padded"))
    assert whole.sizes["rows"] % 32 == whole.sizes["cols"] % 32 == 0
    assert tiled.shared_load.conflicts == 31 * tiled.shared_load.requests > 0
    assert tiled.shared_store.conflicts == 0
    assert padded.shared_load.conflicts == padded.shared_store.conflicts == 0
    assert padded.shared_load.requests == tiled.shared_load.requests
    for counters in (tiled, padded):
        assert counters.global_load.excess_sectors == counters.global_store.excess_sectors == 0


def test_no_case_of_the_padded_transposition_has_a_conflict() -> None:
    for case in rules.cases_and_random(PUZZLES["transpose_padded"]):
        counters = counters_of("transpose_padded", case)
        assert counters.shared_load.conflicts == counters.shared_store.conflicts == 0, case


def test_every_puzzle_meets_a_ragged_block_whole_blocks_and_more_than_one() -> None:
    for name in ("block_reverse", "stencil_halo", "conv1d", "fix_the_race", "fix_the_barrier"):
        sizes = [case.sizes["size"] for case in PUZZLES[name].cases]
        assert any(size % TPB for size in sizes) and any(size % TPB == 0 for size in sizes), name
        assert max(sizes) > 3 * TPB and 1 in sizes, name
