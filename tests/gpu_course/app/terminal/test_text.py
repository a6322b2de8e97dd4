"""What the commands print: as wide as the terminal, and in a pipe as it is."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gpu_course.app.terminal.text import (
    fitting,
    outcome,
    path_here,
    progress_text,
    statement_lines,
    summary,
    verdict_table,
)
from gpu_course.grading.learner.progress import LessonProgress
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import index

RIGHT = tuple(fact("right in all 8 cases"))
OUTSIDE = tuple(fact("OutOfBoundsError: a[8] is outside"))
PASSED = Verdict("01_threads/guard", "passed", None, 10, 10, RIGHT)
FAILED = Verdict("01_threads/map", "failed", "hazard", 0, 10, OUTSIDE)


class Terminal(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_in_a_terminal_a_message_fits_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = "hint 1 of 3: " + "so many words " * 20
    assert fitting(hint) == hint, "a pipe gets the message as it is"
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "60")
    lines = fitting(hint).splitlines()
    assert max(map(len, lines)) <= 60 and " ".join(lines).split() == hint.split()


def test_verdicts_in_a_few_words() -> None:
    assert outcome(PASSED) == "passed, 10 of 10 points"
    assert outcome(FAILED) == "failed (hazard), 0 of 10 points"
    assert summary([PASSED, FAILED]) == "1 of 2 passed, 10 of 20 points."


def test_a_message_with_brackets_stands_in_the_table_as_it_is() -> None:
    lines = verdict_table([PASSED, FAILED]).splitlines()
    (row,) = [line for line in lines if line.startswith(FAILED.name)]
    assert "OutOfBoundsError: a[8] is outside" in row
    assert lines[-1] == summary([PASSED, FAILED])


def test_progress_names_every_puzzle_and_the_next() -> None:
    lesson = index.lesson("01")
    verdicts = tuple(
        Verdict(p.name, "passed" if k else "failed", None, 10 * bool(k), 10, RIGHT)
        for k, p in enumerate(lesson.puzzles)
    )
    text = progress_text([LessonProgress(lesson, verdicts)])
    count = len(verdicts)
    assert f"\n01_threads  {lesson.title}: {count - 1} of {count} passed\n" in text
    assert all(puzzle.short_name in text for puzzle in lesson.puzzles)
    assert text.endswith(f"\n\nNext: {lesson.puzzles[0].name}")
    rest = progress_text([LessonProgress(lesson, verdicts[1:])])
    assert rest.endswith("\n\nEvery puzzle is passed.")


def test_a_path_is_told_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert path_here(tmp_path / "puzzles" / "guard.py") == str(Path("puzzles") / "guard.py")
    assert path_here(tmp_path.parent / "guard.py") == str(tmp_path.parent / "guard.py")


STATEMENT = """\
guard: more threads than data.

    guard(out, a, size)

    out   float32 (size,)   to write: out[i] is ten
                            more than a[i]
    size  int               how many cells there are

The launch is one block with at least `size` threads, often
more. A thread without a cell must touch nothing."""


def test_a_table_of_arguments_keeps_its_lines_and_prose_is_broken_anew() -> None:
    lines = statement_lines(STATEMENT, 80)
    assert lines[:-2] == STATEMENT.splitlines()[:-2]
    assert lines[-2:] == [
        "The launch is one block with at least `size` threads, often more. A thread",
        "without a cell must touch nothing.",
    ]


def test_in_a_narrow_terminal_a_table_is_broken_in_its_last_column() -> None:
    lines = statement_lines(STATEMENT, 44)
    assert lines[4:8] == [
        "    out   float32 (size,)   to write: out[i]",
        "              is ten more than a[i]",
        "    size  int               how many cells",
        "              there are",
    ]


@pytest.mark.parametrize("width", [40, 80])
def test_what_every_puzzle_asks_fits_and_loses_nothing(width: int) -> None:
    for puzzle in index.puzzles():
        lines = statement_lines(puzzle.statement, width)
        assert max(map(len, lines)) <= width, puzzle.name
        assert "".join("".join(lines).split()) == "".join(puzzle.statement.split()), puzzle.name
        # Only a word that is longer than half a line may be broken.
        broken = set(puzzle.statement.split()) - set(" ".join(lines).split())
        assert all(len(word) > width / 2 for word in broken), broken
