"""Kernels that a lesson works with: the learner's, right or wrong, else the solution's."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.notebook.own.kernels import own_kernel, whose
from tests.course.puzzles.by_hand import SOLUTIONS


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the learner's matvec is to lie; the checkout's solutions are within reach."""
    monkeypatch.chdir(SOLUTIONS.parent)
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path))
    (tmp_path / "06_matmul").mkdir()
    return tmp_path / "06_matmul" / "matvec.py"


def test_without_an_answer_or_with_the_stub_the_solution_stands_in(answer: Path) -> None:
    assert not own_kernel("matvec").own
    answer.write_text(workspace.stub_text("matvec"), encoding="utf-8")
    found = own_kernel("matvec")
    assert (found.own, found.file) == (False, SOLUTIONS / "06_matmul" / "matvec.py")
    assert str(found) == "our matvec"
    assert whose([found]) == "our matvec, until there is one of yours"


def test_the_learners_kernel_is_taken_though_it_is_wrong(answer: Path) -> None:
    text = (SOLUTIONS / "06_matmul" / "matvec.py").read_text(encoding="utf-8")
    answer.write_text(text.replace("col += 32", "col += 64"), encoding="utf-8")
    found = own_kernel("matvec")
    assert (found.own, found.file, str(found)) == (True, answer, "your matvec")


def test_a_file_without_the_kernel_and_a_puzzle_without_one_are_told(answer: Path) -> None:
    answer.write_text("def other(a):\n    pass\n", encoding="utf-8")
    with pytest.raises(CourseError, match="defines no function matvec"):
        own_kernel("matvec")
    with pytest.raises(CourseError, match="asks for no kernel"):
        own_kernel("intensity")
