"""Every named mistake: the simulator's numbers are those of its PTX, or both see its hazard.

`make test` runs a part of them in the visible case; `make test-all` all of them in all cases. One
that comes to no end is left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.puzzle import KernelPuzzle, Mistake
from simt.report import Hazard
from simt.simulator import simulate
from tests.ptx.agreement import (
    AS_PTX,
    FUSED,
    IN_ANY_ORDER,
    PUZZLES,
    hold,
    inside_as_ptx,
)
from tests.ptx.course import with_mistake
from tests.sampling import EVERYTHING, share

pytestmark = pytest.mark.long(20)

MISTAKES = [
    pytest.param(puzzle, mistake, id=f"{puzzle.name}-{mistake.function}")
    for puzzle in PUZZLES
    for mistake in puzzle.mistakes
]
PART = share(60, of=len(MISTAKES))


@pytest.mark.series(PART)
@pytest.mark.parametrize(("puzzle", "mistake"), MISTAKES)
def test_a_mistake_computes_what_its_ptx_does(
    puzzle: KernelPuzzle, mistake: Mistake, keep: Path
) -> None:
    answer = with_mistake(puzzle, mistake)
    for case in puzzle.cases if EVERYTHING else puzzle.cases[:1]:
        hold(answer, case, keep)


def test_what_is_excused_is_there() -> None:
    named = {
        f"{puzzle.name} {mistake.function}" for puzzle in PUZZLES for mistake in puzzle.mistakes
    } | {puzzle.name for puzzle in PUZZLES}
    assert {each.partition(",")[0] for each in (*AS_PTX, *IN_ANY_ORDER, *FUSED)} <= named


@pytest.mark.parametrize(
    ("row", "column", "inside"),
    [(0, 4, True), (1, -1, True), (2, 3, False), (0, -4, False), (-1, 0, True), (5, 5, False)],
)
def test_what_ptx_takes_for_a_cell_of_the_array(row: int, column: int, inside: bool) -> None:
    (hazard,) = outside(row, column)
    assert inside_as_ptx(hazard) == inside


def outside(row: int, column: int) -> tuple[Hazard, ...]:
    def one_cell(out, i, j):  # type: ignore[no-untyped-def]
        out[i, j] = 1

    return simulate(one_cell)[1, 1](np.zeros((2, 3), np.float32), row, column).hazards
