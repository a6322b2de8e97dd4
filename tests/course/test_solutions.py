"""Every solution of the course passes, alone and as a folder of answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.puzzle import Puzzle, index
from tests.sampling import EVERYTHING

pytestmark = pytest.mark.long(53)

KINDS = ("01_threads/", "16_memory_ledger/", "21_collectives/")


@pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)
def test_a_solution_passes(puzzle: Puzzle, root: Path) -> None:
    """With sizes drawn anew; under seed 0 folders of them are graded below."""
    verdict = check(puzzle.name, answer=root / "solutions" / f"{puzzle.name}.py", seed=None)
    assert verdict.status == "passed", verdict.message
    assert verdict.reason is None
    assert verdict.points == verdict.max_points == puzzle.points
    assert verdict.hazards == ()


def test_the_solutions_as_a_folder_of_answers_all_pass(root: Path) -> None:
    """Kernels, answers in Python and on ranks; each one alone was checked above."""
    puzzles = [p for p in index.puzzles() if EVERYTHING or p.name.startswith(KINDS)]
    verdicts = grade(answers=root / "solutions", seed=0, only=[puzzle.name for puzzle in puzzles])
    assert [verdict.name for verdict in verdicts] == [puzzle.name for puzzle in puzzles]
    assert [verdict.status for verdict in verdicts] == ["passed"] * len(verdicts)
