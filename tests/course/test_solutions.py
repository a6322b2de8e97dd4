"""Every solution of the course passes, alone and as a folder of answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.catalog import Puzzle, index
from gpu_course.grading.check import check
from gpu_course.grading.grade import grade


@pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)
def test_a_solution_passes(puzzle: Puzzle, root: Path) -> None:
    """With sizes drawn anew; under seed 0 the folder of them is graded below."""
    verdict = check(puzzle.name, answer=root / "solutions" / f"{puzzle.name}.py", seed=None)
    assert verdict.status == "passed", verdict.message
    assert verdict.reason is None
    assert verdict.points == verdict.max_points == puzzle.points
    assert verdict.hazards == ()


def test_the_solutions_as_a_folder_of_answers_all_pass(root: Path) -> None:
    verdicts = grade(answers=root / "solutions", seed=0)
    assert [verdict.name for verdict in verdicts] == [puzzle.name for puzzle in index.puzzles()]
    assert [verdict.status for verdict in verdicts] == ["passed"] * len(verdicts)
