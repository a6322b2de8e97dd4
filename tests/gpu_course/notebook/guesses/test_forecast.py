"""Forecasts as a lesson asks them: typed, kept, compared and scored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpu_course.claims import guesses as ledger
from gpu_course.claims.guesses import Entry, Guess
from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecast_row, forecasts
from gpu_course.grading import workspace
from gpu_course.notebook.guesses.forecast import Forecast, forecast
from gpu_course.notebook.guesses.forecast_score import ForecastScore, forecast_score, score_of
from gpu_course.notebook.note import Note
from gpu_course.notebook.tutor import feedback
from gpu_course.notebook.tutor.course_map import CourseMap

NAME, BROKEN = "h100-add-large", "h100-add-small"
ROW = forecast_row(NAME)
RIGHT = ROW.published


def asked(*typed: str, name: str = NAME) -> Forecast:
    made = Forecast(forecast_row(name))
    made.panel()
    for field, text in zip(made.fields, typed, strict=False):
        field.value = text
    return made


def status(made: Forecast) -> str:
    return made._status.value


def test_outside_a_notebook_the_question_is_printed_and_nothing_waits(answers, capsys) -> None:
    made = forecast(NAME)
    assert capsys.readouterr().out == f"{made!r}\n"
    assert repr(made).startswith(f"Your forecast: {ROW.forecast.question} A number")
    made.compare()
    told = capsys.readouterr().out
    assert told.startswith(f"It is {ROW.printed} ms.")
    assert " ".join(ROW.forecast.seen.split()) in " ".join(told.split())


def test_what_compare_shows_is_the_same_every_time(answers, capsys) -> None:
    texts = []
    for _ in range(2):
        for row in forecasts():
            forecast(row.forecast.name).compare()
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert max(len(line) for line in repr(asked().comparison()).splitlines()) <= 70


def test_the_panel_can_be_used_by_keyboard_alone_and_is_narrow(answers) -> None:
    made = asked()
    assert [field.description for field in made.fields] == ["your number", "at least", "at most"]
    assert all("in ms" in field.tooltip and field.placeholder == "ms" for field in made.fields)
    # Enter, or leaving the field, is enough: nothing has to be clicked.
    assert not any(field.continuous_update for field in made.fields)
    assert made.panel().children[1].layout.flex_flow == "row wrap"


def test_a_guess_is_kept_when_all_three_are_there(answers) -> None:
    made = asked("4")
    assert "All three are needed" in status(made) and ledger.entries() == {}
    made.fields[1].value, made.fields[2].value = "3", "5"
    assert "Kept: 4 (3 to 5)." in status(made) and ledger.entry(NAME) == Entry(Guess(4, 3, 5))
    made.fields[0].value = "4.5"
    assert ledger.entry(NAME) == Entry(Guess(4.5, 3, 5))


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (("4", "5", "3"), "which is backwards"),
        (("9", "3", "5"), "lies outside 3 to 5"),
        (("fast", "3", "5"), "which is no number"),
        (("4 ms", "3", "5"), "it counts ms"),
        (("4,1", "3", "5"), "write a point before decimals: 4.1"),
        (("4,1000", "3", "5"), "a comma that groups no thousands"),
    ],
)
def test_bad_input_is_told_where_it_was_typed_and_not_kept(answers, typed, told) -> None:
    made = asked(*typed)
    assert told in status(made) and ledger.entries() == {}
    first = repr(made.comparison()).splitlines()[0]
    assert first.startswith("No forecast (")


@pytest.mark.parametrize("typed", [("4",), ("4", "3"), ("4", "5", "3"), ("fast", "3", "5")])
def test_a_forecast_that_is_begun_and_not_whole_keeps_the_answer_back(answers, capsys, typed):
    made = asked(*typed)
    made.compare()
    told = capsys.readouterr().out
    assert told.startswith("Your forecast is not whole, ") and ROW.printed not in told
    assert max(map(len, told.splitlines())) <= 70
    assert ledger.entries() == {} and not made.fields[0].disabled
    for field, value in zip(made.fields, ("4", "3", "5"), strict=True):
        field.value = value
    made.compare()
    assert "You said 4 (3 to 5)" in capsys.readouterr().out
    assert forecast_score().calibration.held == 1


def test_what_stands_in_the_fields_counts_and_not_what_stood_there_before(answers, capsys) -> None:
    made = asked("4", "3", "5")
    made.fields[0].value = "50"
    made.compare()
    told = capsys.readouterr().out
    assert "your number 50 lies outside 3 to 5" in told and ROW.printed not in told
    made.fields[2].value = "60"
    made.compare()
    assert "You said 50 (3 to 60)" in capsys.readouterr().out


def test_a_run_of_all_cells_tells_no_answer_and_takes_no_forecast_away(answers, capsys) -> None:
    made = asked()
    made.compare()
    told = capsys.readouterr().out
    assert told.startswith("The answer waits for your forecast.") and ROW.printed not in told
    assert max(map(len, told.splitlines())) <= 70
    assert ledger.entries() == {} and not any(field.disabled for field in made.fields)
    for field, value in zip(made.fields, ("4", "3", "5"), strict=True):
        field.value = value
    made.compare()
    assert "your interval held" in capsys.readouterr().out
    assert forecast_score().calibration.held == 1


def test_emptied_fields_wait_as_if_nothing_had_been_typed(answers, capsys) -> None:
    made = asked("4")
    made.fields[0].value = ""
    made.compare()
    assert capsys.readouterr().out.startswith("The answer waits for your forecast.")
    assert ledger.entries() == {}


def waiting(made: Forecast) -> Any:
    """What `compare` shows of a forecast that is not whole: the panel, and its button."""
    made.compare()
    return made._waiting[-1].panel, made._waiting[-1].button


def test_a_button_tells_the_answer_to_whoever_asks(answers) -> None:
    made = asked()
    panel, button = waiting(made)
    assert ROW.printed not in panel.children[0].value
    button.click()
    assert "<b>It is 4.1 ms.</b>" in panel.children[0].value
    assert len(panel.children) == 1 and "is not scored" in status(made)
    assert ledger.entry(NAME) == Entry(None, told=True) and not forecast_score()


def test_what_was_typed_before_the_button_was_pressed_counts(answers) -> None:
    made = asked()
    panel, button = waiting(made)
    made.fields[0].value = "4"
    button.click()
    assert "not whole" in panel.children[0].value and ledger.entries() == {}
    assert ROW.printed not in panel.children[0].value and button in panel.children[-1].children
    made.fields[1].value = "3"
    assert ROW.printed not in panel.children[0].value
    made.fields[2].value = "5"
    assert "You said 4 (3 to 5)" in panel.children[0].value
    assert forecast_score().calibration.held == 1


def test_a_stored_notebook_does_not_have_the_answer_either(answers) -> None:
    made = asked()
    bundle = waiting(made)[0]._repr_mimebundle_()
    assert bundle["text/plain"].startswith("The answer waits for your forecast.")
    assert f"{ROW.printed} ms" not in str(bundle)
    assert ledger.entries() == {}


@pytest.mark.parametrize(("typed", "kept"), [("1,000", 1000), ("12,345.5", 12345.5), ("1e3", 1000)])
def test_thousands_may_be_grouped(answers, typed, kept) -> None:
    asked(typed, "1", "20_000")
    assert ledger.entry(NAME) == Entry(Guess(kept, 1, 20_000))


@pytest.mark.parametrize(
    ("typed", "first", "kind"),
    [
        (("4", "3", "5"), "You said 4 (3 to 5). It is 4.1 ms: your interval held.", "right"),
        (("1", "0.5", "2"), "You said 1 (0.5 to 2). It is 4.1 ms, above your interval.", "wrong"),
        (("9", "8", "1e3"), "You said 9 (8 to 1,000). It is 4.1 ms, below your interval.", "wrong"),
    ],
)
def test_a_guess_stands_beside_what_was_measured(answers, typed, first, kind) -> None:
    shown = asked(*typed).comparison()
    assert (shown.text, shown.kind) == (first, kind)
    wide = (float(typed[2]) - float(typed[1])) / RIGHT
    text = " ".join(repr(shown).split())
    assert f"Your interval is {wide:,.0f} times" in text or f"is {wide:.2g} times" in text
    assert "Measured: 4.1 ms (Scaling book, How to Think About GPUs, quiz 1, question 7)." in text
    told = "The simple model: 3.85 ms, 94 % of that; a floor, which holds. 12 bytes for each number"
    assert told in text


def test_what_breaks_is_told_with_the_answer(answers) -> None:
    assert "What breaks here: latency. The model" in repr(asked(name=BROKEN).comparison())
    assert "What breaks" not in repr(asked().comparison())
    assert "breaks" not in repr(asked(name=BROKEN))


@pytest.mark.parametrize(
    ("kind", "judged"),
    [
        (Kind.scaled, "94 % of that; inside its margin of 10 %."),
        (Kind.ceiling, "94 % of that; a ceiling, which fails."),
        (Kind.again, "94 % of that; outside its margin."),
    ],
)
def test_what_becomes_of_the_simple_model_is_told_by_its_kind(answers, kind, judged) -> None:
    assert judged in " ".join(repr(Forecast(replace(ROW, kind=kind)).comparison()).split())


def test_a_number_that_agrees_to_the_digit_is_told_as_such(answers) -> None:
    same = replace(ROW, kind=Kind.formula, model=lambda: RIGHT)
    assert "4.1 ms; to the last printed digit." in repr(Forecast(same).comparison())


def test_a_number_without_a_verdict_is_told_as_such(answers) -> None:
    unknown = Forecast(replace(ROW, missing="the clock")).comparison()
    assert "94 % of that; no verdict." in " ".join(repr(unknown).split())


def test_the_source_may_have_worked_it_out(answers) -> None:
    for kind, word in ((Kind.formula, "Worked out by the source: 4.1"), (Kind.identity, "Printed")):
        assert word in repr(Forecast(replace(ROW, kind=kind)).comparison())
    bound = replace(ROW, kind=Kind.floor, worked_out=True)
    assert "Worked out by the source: 4.1" in repr(Forecast(bound).comparison())
    assert "Measured: 4.1" in repr(Forecast(replace(ROW, kind=Kind.floor)).comparison())


def test_a_forecast_counts_once_it_is_told_and_stands_then(answers, capsys) -> None:
    made = asked("4", "3", "5")
    assert not forecast_score()
    made.compare()
    assert all(field.disabled for field in made.fields)
    assert "counts as it stands" in status(made)
    assert forecast_score().calibration.held == 1
    again = asked("9", "8", "10")
    assert again.fields[0].disabled and "counts as it stands" in status(again)
    again.compare()
    assert ledger.entry(NAME) == Entry(Guess(4, 3, 5), told=True)
    assert "You said 4 (3 to 5)" in capsys.readouterr().out


def test_the_guess_of_an_earlier_day_is_there_again(answers) -> None:
    asked("4", "3", "5.25")
    again = asked()
    assert [field.value for field in again.fields] == ["4", "3", "5.25"]
    assert not again.fields[0].disabled and "until you change it" in status(again)


def test_what_is_typed_after_the_answer_is_compared_and_not_scored(answers, capsys) -> None:
    made = asked()
    waiting(made)[1].click()
    capsys.readouterr()
    late = asked("4", "3", "5")
    late.compare()
    told = capsys.readouterr().out
    assert told.startswith("You said 4 (3 to 5)") and "it is not scored" in " ".join(told.split())
    assert "is not scored" in status(asked())
    assert not forecast_score() and ledger.entry(NAME) == Entry(None, told=True)


def test_a_state_that_cannot_be_written_is_told_and_the_guess_still_compared(
    answers: Path, capsys
) -> None:
    (answers.parent / ".gpu_course").write_text("a file in the way")
    made = asked("4", "3", "5")
    assert "Your forecast is not kept" in status(made)
    made.compare()
    told = capsys.readouterr().out
    assert told.startswith("You said 4 (3 to 5)") and "not kept" in told


def test_a_damaged_state_is_told_in_the_panel(answers: Path) -> None:
    workspace.state_folder().mkdir()
    (workspace.state_folder() / "state.json").write_text("{")
    assert "could not be read" in status(asked())


def test_an_unknown_name_is_answered_in_a_sentence(answers) -> None:
    said = forecast("h100-add-larg")
    assert isinstance(said, Note) and "did you mean h100-add-large" in repr(said)


def test_inside_a_notebook_the_fields_are_shown(shell) -> None:
    shell.run("from gpu_course.notebook import forecast")
    [shown] = shell.run(f"guess = forecast({NAME!r})")
    assert shown == repr(shell.names()["guess"])
    for field, text in zip(shell.names()["guess"].fields, ("4", "3", "5"), strict=True):
        field.value = text
    [told] = shell.run("guess.compare()")
    assert told.startswith("You said 4 (3 to 5). It is 4.1 ms: your interval held.")


def test_the_score_leaves_out_what_was_not_told_and_what_is_not_on_the_board() -> None:
    kept = {
        NAME: Entry(Guess(4.1, 2.05, 8.2), told=True),
        BROKEN: Entry(Guess(1, 1, 2)),
        "gone": Entry(Guess(1, 1, 2), told=True),
    }
    found = score_of(kept, forecasts())
    ((title, (interval,)),) = found.lessons.items()
    assert title == "The roofline"
    assert (interval.number, interval.low, interval.high) == (1.0, 0.5, 2.0)
    assert interval.held and interval.width == 1.5
    assert not score_of({}, forecasts())


def test_the_score_stands_in_the_map_once_there_is_one(answers, monkeypatch) -> None:
    monkeypatch.setattr(feedback, "_progress", lambda: ())
    before = feedback.progress()
    assert isinstance(before, CourseMap)
    assert "orecast" not in repr(before) and "orecast" not in before._repr_html_()
    ledger.keep(NAME, Guess(4, 3, 5))
    ledger.LEDGER.tell(NAME)
    after = feedback.progress()
    assert "Forecasts: 1 of 1 intervals held" in repr(after)
    assert "one is too few" in repr(after)
    html = after._repr_html_()
    assert "Your forecasts" in html and '<img alt="Forecasts. The roofline: 1 of 1 held' in html


def test_a_score_of_nothing_is_nothing() -> None:
    none = ForecastScore({})
    assert (repr(none), none._repr_html_(), bool(none)) == ("", "", False)
