"""Rows that are asked before they are told: read with clear errors, and sealed."""

from __future__ import annotations

import re

import pytest

from gpu_course.claims import published
from gpu_course.claims.assumptions import BREAKS
from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import compared, count, forecast_row, forecasts, to_json
from gpu_course.claims.reading import read_rows
from gpu_course.claims.row import Row
from gpu_course.errors import CatalogueError, UnknownName
from tests.course.leaks import leaked

ASKED = forecasts()
FILE = """
name = "Somebody 2020"
title = "On something"
url = "https://example.org"

[[table]]
place = "Table 1"
unit = "ms"
kind = "floor"
lessons = ["10_roofline"]
model = "h100_add"
how = "bytes over bandwidth"

[[table.row]]
what = "a large add"
printed = "4.1"
breaks = "latency"
arguments = { length = 1e9, unit = "ms" }
note = "A floor."

[table.row.forecast]
name = "large-add"
question = "How many ms does a large add take?"
seen = "As long as its bytes."
"""
THIS_ROW = "slip.toml, Table 1, a large add: "


def read(text: str) -> tuple[Row, ...]:
    return published.checked(("slip.toml", row) for row in read_rows(text, "slip.toml"))


def test_a_row_may_hold_a_question() -> None:
    (row,) = read(FILE)
    assert row.forecast is not None
    assert (row.forecast.name, row.breaks) == ("large-add", "latency")
    assert row.broken == f"latency. {BREAKS['latency']}"
    (row,) = read(FILE.replace('breaks = "latency"\n', ""))
    assert row.forecast is not None and (row.breaks, row.broken) == ("", "")
    # What breaks is said of the row, whether or not somebody is asked for it first.
    (row,) = read(FILE.partition("[table.row.forecast]")[0])
    assert row.forecast is None and row.breaks == "latency"


@pytest.mark.parametrize(
    ("there", "slip", "told"),
    [
        (
            'name = "large-add"\n',
            "",
            THIS_ROW + "Object missing required field `name` - at `$.forecast`",
        ),
        (
            'seen = "As long as its bytes."\n',
            "",
            THIS_ROW + "Object missing required field `seen` - at `$.forecast`",
        ),
        ('"As long as its bytes."', '" "', THIS_ROW + "seen of the forecast is empty"),
        ('"large-add"', '"Large add"', THIS_ROW + "the forecast is called 'Large add'"),
        ('"large-add"', "7", THIS_ROW + "Expected `str`, got `int` - at `$.forecast.name`"),
        ("take?", "take.", THIS_ROW + "the question of large-add does not ask"),
        ('"latency"', '"luck"', THIS_ROW + "breaks is 'luck', and no assumption"),
        ("breaks =", "break =", THIS_ROW + "Object contains unknown field `break`"),
        (
            'seen = "As long as its bytes."\n',
            'seen = "As long as its bytes."\nbreaks = "cache"\n',
            THIS_ROW + "breaks stands in the forecast",
        ),
        (
            'note = "A floor."\n',
            'missing = "the clock"\n',
            THIS_ROW + "the model breaks (latency), and the source leaves something out",
        ),
        ('"4.1"', '"-4.1"', THIS_ROW + "nobody forecasts -4.1"),
        ('"4.1"', '"4.1 ms"', THIS_ROW + "the printed digits are '4.1 ms'"),
        (
            "[table.row.forecast]",
            "[table.forecast]",
            "slip.toml, Table 1: a forecast is",
        ),
        (
            "[table.row.forecast]\n",
            "forecast = 7\n[x]\n",
            "slip.toml: Object contains unknown field `x`",
        ),
        (
            "[table.row.forecast]",
            "[table.row.forcast]",
            THIS_ROW + "Object contains unknown field `forcast`",
        ),
    ],
)
def test_a_slip_in_a_question_is_told_with_its_row(there: str, slip: str, told: str) -> None:
    assert there in FILE
    with pytest.raises(CatalogueError) as error:
        read(FILE.replace(there, slip))
    assert str(error.value).startswith(told)


def test_one_name_stands_for_one_forecast() -> None:
    second = FILE.partition("[[table.row]]")
    both = FILE + second[1] + second[2].replace("a large add", "a larger add")
    with pytest.raises(CatalogueError, match=r"a larger add: .* has a forecast large-add too"):
        read(both)


def test_a_forecast_is_found_by_its_name() -> None:
    for row in ASKED:
        assert row.forecast is not None and forecast_row(row.forecast.name) is row
    with pytest.raises(UnknownName, match="did you mean h100-add-large"):
        forecast_row("h100-add-larg")


def test_a_broken_model_is_shown_as_a_difference_with_what_broke() -> None:
    (row,) = read(FILE.replace('"floor"', '"scaled"').replace("length = 1e9", "length = 2e9"))
    assert row.holds is False
    text = compared([row])
    assert text.splitlines()[3].split()[-1] == "outside"
    assert "a large add: the model breaks here: latency." in " ".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= 70
    assert count([row]).splitlines()[-1].split() == ["all", "1", "0", "1", "0"]
    (data,) = to_json([row])
    assert (data["forecast"], data["breaks"]) == ("large-add", "latency")


@pytest.mark.parametrize("row", ASKED, ids=lambda row: row.forecast.name)
def test_a_question_gives_nothing_away(row: Row) -> None:
    question = row.forecast
    assert question is not None
    assert leaked(question.question, row) == ""
    assert question.seen[0].isupper() and question.seen[-1] in ".?)"
    assert question.seen.count("`") % 2 == 0
    assert len(question.seen) <= 500, "two or three sentences"
    # Which unit the fields take is part of what is asked.
    assert not row.unit or re.search(rf"(?<!\w){re.escape(row.unit)}(?!\w)", question.question)


def test_every_assumption_is_a_sentence() -> None:
    for sentence in BREAKS.values():
        assert sentence.startswith("The model ") and sentence.endswith(".")


def test_what_cannot_differ_is_not_a_broken_model() -> None:
    assert not [row for row in ASKED if row.kind is Kind.identity and row.breaks]
