"""The solution beside an answer: only once it passes, and only what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.errors import CourseError, UnknownName
from gpu_course.grading.learner.solution import (
    NotPassed,
    compare_with_solution,
    course_solutions,
    diff,
    solutions_folder,
    without_marks,
)
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import RIGHT, STUB

MARKED = (
    toy.HEAD
    + "    # answer\n    i = cuda.grid(1)\n    if i < size:\n        out[i] = a[i] + 10\n"
    + "    # end answer\n"
)
OTHER = RIGHT.replace("a[i] + 10", "10 + a[i]")


@pytest.fixture
def solutions(answers: Path) -> Path:
    folder = answers.parent / "solutions" / "90_toys"
    folder.mkdir(parents=True)
    (folder / "plus_ten.py").write_text(MARKED)
    return folder


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (STUB, "not-started"),
        (None, "not-started"),
        ("def (", "failed"),
        (RIGHT.replace("i < size", "i <= size"), "failed"),
        (RIGHT.replace("+ 10", "+ 1"), "failed"),
        (RIGHT.replace("plus_ten", "plus_eleven"), "failed"),
    ],
)
def test_before_passing_it_declines(
    solutions: Path, file: Path, text: str | None, status: str
) -> None:
    (solutions / "plus_ten.md").write_text("# plus_ten\n\nThe discussion.\n")
    if text is not None:
        file.write_text(text)
    with pytest.raises(NotPassed) as caught:
        diff("plus_ten")
    assert f"is not passed yet ({status})" in caught.value.fact
    assert "gpu-course hint plus_ten" in caught.value.hint
    assert "cuda.grid" not in str(caught.value) and "discussion" not in str(caught.value)


def test_after_passing_the_lines_that_differ_are_shown(solutions: Path, file: Path) -> None:
    file.write_text(OTHER)
    assert diff("plus_ten").difference.splitlines() == [
        "--- your answer",
        "+++ the solution",
        "@@ -6,3 +6,3 @@",
        "     i = cuda.grid(1)",
        "     if i < size:",
        "-        out[i] = 10 + a[i]",
        "+        out[i] = a[i] + 10",
    ]


@pytest.mark.parametrize(
    "text", [RIGHT, "# mine\n" + RIGHT, RIGHT.replace("\n", "\r\n"), RIGHT.replace(" + ", "+")]
)
def test_the_same_program_is_said_in_a_sentence(solutions: Path, file: Path, text: str) -> None:
    file.write_bytes(text.encode())
    assert str(diff("plus_ten")) == "Your answer and the solution are the same program."


def test_the_discussion_follows_the_difference(solutions: Path, file: Path) -> None:
    file.write_text(OTHER)
    (solutions / "plus_ten.md").write_text("# plus_ten: ten more\n\nThe idea.\n")
    found = diff("plus_ten")
    assert found.discussion == "# plus_ten: ten more\n\nThe idea."
    assert str(found) == f"{found.difference}\n\n{found.discussion}"


def test_no_marks_of_the_build_are_shown() -> None:
    assert without_marks(MARKED) == RIGHT


def test_what_is_missing_is_named(solutions: Path, file: Path) -> None:
    with pytest.raises(CourseError, match=r"there is no .*plus_ten\.py"):
        compare_with_solution(toy.TOY)
    file.write_text(OTHER)
    (solutions / "plus_ten.py").unlink()
    with pytest.raises(CourseError, match=r"there is no .*plus_ten\.py"):
        compare_with_solution(toy.TOY)


def test_without_solutions_it_says_so(
    answers: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(answers)
    file.write_text(RIGHT)
    with pytest.raises(CourseError, match="there is no folder solutions/"):
        diff("plus_ten")


def test_the_course_finds_its_own_solutions_wherever_answers_lie(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(answers)
    assert (course_solutions() / "01_threads" / "guard.py").is_file()
    with pytest.raises(CourseError, match="there is no folder solutions/"):
        solutions_folder()


def test_an_unknown_puzzle(answers: Path) -> None:
    with pytest.raises(UnknownName):
        diff("nonsense")


def test_the_statement_is_no_difference(solutions: Path, file: Path) -> None:
    # Many delete the statement from their file; the diff would begin with thirty lines of it.
    statement = '"""plus_ten: ten more.\n\n    out   to write\n"""\n\n'
    (solutions / "plus_ten.py").write_text(statement + MARKED)
    file.write_text(OTHER)
    found = diff("plus_ten")
    assert "to write" not in found.difference and "ten more" not in "".join(found.solution)
    assert found.difference.count("\n-") + found.difference.count("\n+") == 3
    file.write_text(RIGHT)
    assert diff("plus_ten").same
