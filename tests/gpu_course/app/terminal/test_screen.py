"""What `watch` shows: every state, within the columns there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gpu_course.app.terminal.screen import screen
from gpu_course.grading.learner.loop import KERNEL_DEADLINE_S
from gpu_course.grading.verdicts.exports import LOOKS
from gpu_course.grading.verdicts.facts import STATUSES
from gpu_course.grading.verdicts.onward import effort
from gpu_course.grading.verdicts.sections import fact, section
from gpu_course.puzzle import index
from tests.gpu_course.app.terminal.theatre import Theatre
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.stage import outcome
from tests.gpu_course.grading.toy import RIGHT

TEN = toy.TOY.name


def shown(play: Theatre, width: int = 80) -> str:
    return screen(play.session, width).plain


def state(which: str, answers: Path) -> Theatre:
    """Returns a session brought into one of its states."""
    if which == "searching":
        return Theatre()
    play = Theatre({TEN: "passed"}, name="plus_ten")
    if which == "fresh":
        return play
    if which == "slow":
        play.statuses[TEN] = None
    play.wait()
    if which == "stopped":
        play.statuses[TEN] = None
        (answers / f"{TEN}.py").write_text("changed")
        play.wait()
        play.now += KERNEL_DEADLINE_S
    elif which == "solution":
        folder = answers.parent / "solutions" / "90_toys"
        folder.mkdir(parents=True)
        (folder / "plus_ten.py").write_text(RIGHT)
        prose = "The idea of this puzzle is simple, and it can be said in one sentence. " * 2
        code = "float a_line_of_code_that_is_longer_than_sixty_columns_and_stays_whole;"
        (folder / "plus_ten.md").write_text(f"# plus_ten: ten\n\n{prose}\n\n```c++\n{code}\n```\n")
        (answers / f"{TEN}.py").write_text(RIGHT.replace("10\n", "9 + 1\n"))
        play.wait()
        play.press("d")
    elif which in _KEYS:
        play.press(*_KEYS[which])
    play.wait()
    return play


_KEYS = {"hint": "hh", "list": "l", "all": "c", "question": "x", "notice": "xn"}
STATES = ["searching", "fresh", "slow", "passed", "stopped", "solution", *_KEYS]


@pytest.mark.parametrize("which", STATES)
@pytest.mark.parametrize("width", [80, 60, 200])
def test_it_fits(which: str, width: int, answers: Path) -> None:
    text = screen(state(which, answers).session, width)
    lines = text.plain.splitlines()
    assert max(map(len, lines)) <= min(width, 100)
    # A discussion is as long as it is. The list holds the whole course, which is more than the
    # smallest terminal has room for.
    assert which == "solution" or len(lines) <= (40 if which in ("list", "all") else 24)
    assert lines[-1].endswith("q quit")
    first_key = "y yes   n no" if which == "question" else "n next"
    assert any(line.startswith(first_key) for line in lines[-2:])


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("searching", "Looking for the first puzzle that is not passed."),
        ("fresh", "plus_ten  ten more"),
        ("slow", "checking ..."),
        ("passed", "\u2713 passed\npassed: a message"),
        ("passed", "d for the solution and its discussion"),
        ("passed", "watching: save the file and it is checked"),
        ("stopped", "\u29d6 out of time\nstopped: the check of plus_ten"),
        ("solution", "\n-        out[i] = a[i] + 9 + 1\n+        out[i] = a[i] + 10\n"),
        ("solution", "\nThe idea of this puzzle is simple, and it can be said in one sentence."),
        ("fresh", "easy, about 5 minutes, 10 points"),
        ("list", "passed         easy, about 5 minutes"),
        ("hint", "hint 2 of 3: stronger"),
        ("list", "\u2192 \u2713 plus_ten                 passed"),
        ("list", "1 of 4"),
        ("question", "Your answer is backed up first. y/n"),
        ("notice", "Nothing was changed."),
    ],
)
def test_each_state_says_what_it_is(which: str, words: str, answers: Path) -> None:
    assert words in shown(state(which, answers))


@pytest.mark.parametrize("status", STATUSES)
def test_every_verdict_has_a_sign_and_a_word(status: str, answers: Path) -> None:
    play = Theatre({TEN: status}, name="plus_ten")
    play.wait()
    _, sign, word = LOOKS[status]
    assert f"{sign} {word}\n{status}: a message" in shown(play)
    assert ("d solution" in shown(play)) == (status == "passed")


def test_progress_of_many_checks_is_shown(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    play.wait()
    play.press("c")
    play.wait(2)
    assert "checked 1 of 4" in shown(play)
    assert "\u00b7 table" in shown(play) and "not looked at" in shown(play)


def test_brackets_are_text_and_labels_stand_out(answers: Path) -> None:
    play = Theatre({TEN: "failed"}, name="plus_ten")
    play.wait()
    said = (*fact("a[8] [red]"), *section("why", "a[bold] " * 20))
    play.session.verdict = replace(outcome("failed").verdict, sections=said)
    text = screen(play.session, 80)
    assert "a[8] [red]\n  why:    a[bold]" in text.plain
    assert "\n          a[bold]" in text.plain, "it goes on below its own beginning"
    console = Console(width=80, color_system=None)
    with console.capture() as captured:
        console.print(text, soft_wrap=True)
    assert "a[8] [red]" in captured.get()


def test_the_real_course_fits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "puzzles").mkdir()
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "puzzles"))
    for puzzle in index.puzzles():
        play = Theatre(name=puzzle.name)
        play.wait()
        for keys in ("", "hhh", "l"):
            play.press(*keys)
            assert max(map(len, shown(play).splitlines())) <= 80
        assert puzzle.short_name in shown(play)


def test_the_head_of_every_puzzle_fits_into_80_columns() -> None:
    for puzzle in index.puzzles():
        for text in (
            f"{puzzle.short_name}  {puzzle.title}",
            f"puzzles/{puzzle.name}.py",
            f"{effort(puzzle)}, {puzzle.points} points",
        ):
            assert len(text) <= 80
