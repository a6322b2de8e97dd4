"""The ledger of forecasts: what is typed, kept and told; and files that are not in order."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from gpu_course.claims import guesses as forecasts
from gpu_course.claims.guesses import Entry, Guess, calibration, read_guess
from gpu_course.errors import CourseError
from gpu_course.grading import workspace

GUESS = Guess(4.0, 3.0, 5.0)


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "puzzles"
    folder.mkdir()
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    return folder


@pytest.mark.parametrize(
    ("fields", "guess"),
    [
        (("4", "3", "5"), GUESS),
        ((" 4.0 ", "3e0", "5_0"), Guess(4, 3, 50)),
        (("4,096", "0", "1e4"), Guess(4096, 0, 1e4)),
        (("4", "4", "4"), Guess(4, 4, 4)),
        (("4", "", "5"), None),
        (("", " ", ""), None),
    ],
)
def test_three_fields_make_a_guess(fields, guess) -> None:
    assert read_guess(*fields) == guess


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (("4", "5", "3"), "the interval runs from 5 to 3, which is backwards"),
        (("8", "3", "5"), "your number 8 lies outside 3 to 5"),
        (("many", "3", "5"), "your number reads 'many', which is no number"),
        (
            ("4 ms", "", ""),
            "your number reads '4 ms', which is no number\n  try:    write the number ",
        ),
        (("4", "inf", "5"), "the low end reads 'inf'"),
        (("4", "3", "nan"), "the high end reads 'nan'"),
        (("4", "-3", "5"), "the low end is -3, and nothing here is below 0"),
    ],
)
def test_what_is_no_forecast_is_told_kindly(fields, told) -> None:
    with pytest.raises(CourseError) as error:
        read_guess(*fields, unit="ms")
    assert str(error.value).startswith(told)
    assert "try:" in str(error.value)


def test_an_interval_holds_at_its_ends_and_its_width_is_a_part_of_the_value() -> None:
    assert GUESS.holds(3.0) and GUESS.holds(5.0) and not GUESS.holds(5.01)
    assert GUESS.relative_width(4.0) == 0.5


def test_a_guess_may_change_until_it_is_told(answers: Path) -> None:
    assert forecasts.entry("a") == Entry() and not workspace.state_folder().exists()
    forecasts.keep("a", GUESS)
    forecasts.keep("a", Guess(1, 1, 2))
    assert forecasts.entry("a") == Entry(Guess(1, 1, 2))
    forecasts.LEDGER.tell("a")
    forecasts.keep("a", GUESS)
    assert forecasts.entry("a") == Entry(Guess(1, 1, 2), told=True)


def test_what_is_told_before_a_guess_stays_without_one(answers: Path) -> None:
    forecasts.LEDGER.tell("a")
    forecasts.keep("a", GUESS)
    assert forecasts.entries() == {"a": Entry(None, told=True)}


def test_nothing_else_that_is_remembered_is_lost(answers: Path) -> None:
    workspace.update_state(hints={"x": 2})
    forecasts.keep("a", GUESS)
    forecasts.keep("b", GUESS)
    state = workspace.read_state()
    assert state["hints"] == {"x": 2} and set(state["forecasts"]) == {"a", "b"}


@pytest.mark.parametrize(
    "odd",
    [
        ["odd"],
        {"a": "odd"},
        {"a": {"number": True, "low": 0, "high": 1}},
        {"a": {"number": 4, "low": 5, "high": 6}},
        {"a": {"number": "4", "low": 3, "high": 5}},
    ],
)
def test_a_ledger_of_another_shape_counts_as_empty_and_is_not_lost(answers: Path, odd) -> None:
    workspace.update_state(forecasts=odd)
    assert forecasts.entry("a") == Entry()
    forecasts.keep("b", GUESS)
    state = workspace.read_state()
    assert forecasts.entry("b") == Entry(GUESS)
    kept = state["forecasts-unreadable"] if isinstance(odd, list) else state["forecasts"]["a"]
    assert kept == (odd if isinstance(odd, list) else odd["a"])


def test_a_damaged_state_is_told_and_kept(answers: Path) -> None:
    file = workspace.state_folder() / "state.json"
    file.parent.mkdir()
    file.write_text('{"hints": ')
    given, trouble = forecasts.LEDGER.with_trouble(lambda: forecasts.entry("a"))
    assert given == Entry()
    assert "could not be read" in trouble and "state.unreadable-" in trouble
    (aside,) = workspace.set_aside()
    assert aside.read_text() == '{"hints": ' and aside.name in trouble
    assert forecasts.LEDGER.with_trouble(lambda: forecasts.entry("a")) == (Entry(), "")


def test_a_state_that_cannot_be_written_is_told(answers: Path) -> None:
    (answers.parent / ".gpu_course").write_text("a file in the way")
    given, trouble = forecasts.LEDGER.with_trouble(lambda: forecasts.keep("a", GUESS))
    assert given is None and trouble.startswith("Your forecast is not kept: ")
    assert "try:" in trouble


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_folder_without_rights_is_told(answers: Path) -> None:
    forecasts.keep("a", GUESS)
    workspace.state_folder().chmod(0o500)
    try:
        _, trouble = forecasts.LEDGER.with_trouble(lambda: forecasts.keep("b", GUESS))
    finally:
        workspace.state_folder().chmod(0o700)
    assert "cannot be used" in trouble and set(forecasts.entries()) == {"a"}


def test_no_folder_of_answers_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GPU_COURSE_ANSWERS", raising=False)
    monkeypatch.chdir(tmp_path)
    given, trouble = forecasts.LEDGER.with_trouble(lambda: forecasts.entry("a"))
    assert given is None and "no folder with your answers" in trouble


def test_what_is_kept_is_plain_json(answers: Path) -> None:
    forecasts.keep("a", GUESS)
    forecasts.LEDGER.tell("a")
    state = json.loads((workspace.state_folder() / "state.json").read_text())
    assert state["forecasts"] == {"a": {"number": 4.0, "low": 3.0, "high": 5.0, "told": True}}


@pytest.mark.parametrize("of", [1, 2, 5, 8, 20, 33, 60])
def test_the_range_of_hits_is_what_many_coins_give(of: int) -> None:
    """The chances of each number of hits, from one coin after the other."""
    chances = [Fraction(1)]
    for _ in range(of):
        missed = [chance / 10 for chance in chances] + [Fraction(0)]
        hit = [Fraction(0)] + [chance * 9 / 10 for chance in chances]
        chances = [a + b for a, b in zip(missed, hit, strict=True)]
    assert sum(chances) == 1
    found = calibration(0, of)
    tail = Fraction(25, 1000)
    assert sum(chances[: found.least]) <= tail < sum(chances[: found.least + 1])
    assert sum(chances[found.most + 1 :]) <= tail < sum(chances[found.most :])


def test_few_forecasts_say_that_they_are_few() -> None:
    assert "No forecast" in calibration(0, 0).verdict
    assert "one is too few" in calibration(1, 1).verdict
    assert "5 are too few" in calibration(5, 5).verdict
    assert "wider" in calibration(2, 5).verdict
    assert "narrower" in calibration(40, 40).verdict
    assert calibration(25, 27).verdict == "Where each holds 9 times out of 10, 21 to 27 of 27 hold."
