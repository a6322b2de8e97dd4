"""The scores of the board: how far off each model is, and the learner's own forecasts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_course.claims import board, guesses, published
from gpu_course.claims.guesses import Entry, Guess
from gpu_course.claims.kinds import Kind

ROWS = published.rows()
SCALED = next(row for row in ROWS if row.kind is Kind.scaled and row.holds is not None)


def like(mine: float, model: str, kind: Kind = Kind.scaled, printed: str = "100") -> published.Row:
    return replace(
        SCALED, printed=printed, model=lambda: mine, computed_by=model, kind=kind, spread=None,
        inputs_rounding=None, missing="",
    )  # fmt: skip


def test_the_mean_is_over_the_rows_of_a_model() -> None:
    rows = (like(104, "near"), like(98, "near"), like(150, "far"), like(150, "far", Kind.formula))
    near, far = board.models_off(rows)
    assert (near.model, near.rows, near.outside) == ("near", 2, 0)
    assert near.mean == pytest.approx(0.03) and near.worst == pytest.approx(0.04)
    assert (far.model, far.rows, far.outside) == ("far", 1, 1)


def test_what_has_no_verdict_or_was_printed_as_nothing_tells_nothing() -> None:
    assert board.models_off((replace(like(150, "a"), missing="the unit"),)) == ()
    assert board.models_off((like(150, "a", printed="0"),)) == ()
    assert board.models_text(()) == ""


def test_every_model_that_predicts_has_a_line_that_fits() -> None:
    text = board.models_text(board.models_off(ROWS))
    lines = text.splitlines()
    assert max(map(len, lines)) <= published.WIDTH
    predicting = {r.computed_by for r in ROWS if r.kind in board.TESTED and r.holds is not None}
    assert len(lines) - 2 == len(predicting)


def test_models_of_few_numbers_are_counted_where_many_are_asked_for() -> None:
    off = board.models_off((like(104, "often"), like(98, "often"), like(150, "once")))
    said = board.models_text(off, least_rows=2).splitlines()
    assert [line.split()[0] for line in said[2:]] == ["often", "and"]
    assert said[-1] == "  and 1 more, each held against fewer than 2 numbers"


def test_a_forecast_counts_once_it_was_told_after_a_guess() -> None:
    asked = published.forecasts()[:4]
    names = [row.forecast.name for row in asked if row.forecast]
    value = [row.published for row in asked]
    kept = {
        names[0]: Entry(Guess(value[0], value[0] * 0.9, value[0] * 1.1), True),
        names[1]: Entry(Guess(value[1] * 2, value[1] * 1.9, value[1] * 2.1), True),
        names[2]: Entry(Guess(value[2], value[2], value[2]), False),
        names[3]: Entry(None, True),
    }
    found = board.own_calibration(kept, ROWS)
    assert (found.held, found.of) == (1, 2)
    assert board.calibration_text(found).startswith("Your own forecasts: 1 of 2 intervals held")


def test_the_whole_board_ends_with_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "entries", dict)
    text = board.whole(ROWS[:3])
    assert text.startswith(published.board(ROWS[:3]))
    assert text.endswith(guesses.calibration(0, 0).verdict)
