"""How far a result may be off: a puzzle's own tolerance, or twice what the naive way is off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_course.puzzle import KernelPuzzle, index

RIGHT = np.array([1, 3], np.float32)
STEP = 2.0**-22
"""Of float32 between 2 and 4."""


@pytest.fixture
def puzzle() -> KernelPuzzle:
    found = index.find("guard")
    assert isinstance(found, KernelPuzzle)
    return found


def within(puzzle: KernelPuzzle, *naive: list[float]) -> tuple[float, float]:
    ways = tuple({"out": np.array(each, np.float32)} for each in naive)
    puzzle = replace(puzzle, naive=lambda inputs, case: ways)
    return puzzle.tolerances({}, puzzle.cases[0], {"out": RIGHT})["out"]


def test_a_puzzle_without_a_naive_way_has_its_own_tolerance(puzzle: KernelPuzzle) -> None:
    puzzle = replace(puzzle, tolerance=(1e-3, 1e-4))
    assert puzzle.tolerances({}, puzzle.cases[0], {"out": RIGHT}) == {"out": (1e-3, 1e-4)}


def test_twice_the_worst_cell_and_two_steps_are_allowed(puzzle: KernelPuzzle) -> None:
    assert within(puzzle, [1.25, 3.125]) == (0.0, 2 * (0.25 + STEP))


def test_a_naive_way_that_is_exact_leaves_two_steps_of_the_largest_number(
    puzzle: KernelPuzzle,
) -> None:
    assert within(puzzle, [1, 3]) == (0.0, 2 * STEP)


def test_of_several_orders_the_worst_one_counts(puzzle: KernelPuzzle) -> None:
    assert within(puzzle, [1, 3], [1.5, 3]) == (0.0, 2 * (0.5 + STEP))


def test_what_is_no_number_widens_nothing(puzzle: KernelPuzzle) -> None:
    assert within(puzzle, [np.nan, 3]) == (0.0, 2 * STEP)
    assert within(puzzle, [np.inf, np.nan]) == (0.0, 0.0)
