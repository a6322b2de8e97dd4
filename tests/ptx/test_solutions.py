"""Every solution: the simulator's numbers are those of its PTX.

`make test` runs each in its visible case and about two more; `make test-all` in all of its cases.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.kernel.trial import prepare
from gpu_course.puzzle import Case, KernelPuzzle
from tests.ptx.agreement import PUZZLES, ROUNDINGS, hold
from tests.ptx.course import by_oracle, copied, differences, given_of, solution, started
from tests.sampling import drawn, share

pytestmark = pytest.mark.long(25)

FURTHER = 2
"""Cases of a solution beside the visible one that `make test` runs."""


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_a_solution_computes_what_its_ptx_does(puzzle: KernelPuzzle, keep: Path) -> None:
    for case in cases_of(puzzle):
        hold(solution(puzzle), case, keep)


def cases_of(puzzle: KernelPuzzle) -> list[Case]:
    """Returns the visible case, and those that this tree has drawn."""
    first, *others = puzzle.cases
    part = share(FURTHER, of=len(others))
    return [first, *(case for case in others if drawn(f"{puzzle.name} {case.name}", part))]


def test_full_mantissas_show_fused_products_and_eighths_hide_them(keep: Path) -> None:
    puzzle = next(each for each in PUZZLES if each.short_name == "matmul_naive")
    answer = solution(puzzle)
    for given, shows in (
        (given_of(puzzle, puzzle.cases[0], 0), True),
        (prepare(puzzle, puzzle.cases[0], 0), False),
    ):
        unfused, shipped = started(given), started(given)
        by_oracle(answer, given, unfused, "unfused", keep)
        by_oracle(answer, given, shipped, "shipped", keep)
        assert bool(differences(unfused, shipped, None)) == shows
        assert differences(unfused, shipped, ROUNDINGS) == []


def test_a_difference_is_seen_in_the_last_bit() -> None:
    ours = {"a": np.array([1.0, np.nan], np.float32)}
    theirs = copied(ours)
    assert differences(ours, theirs, None) == []
    theirs["a"][0] = np.nextafter(np.float32(1), np.float32(2))
    assert differences(ours, theirs, None) == [
        "a[0] is np.float32(1.0), and np.float32(1.0000001) as PTX"
    ]
    assert differences(ours, theirs, ROUNDINGS) == []
