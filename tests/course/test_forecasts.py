"""Forecasts are sealed: neither the printed number nor the model's stands before the guess."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from gpu_course.claims.published import forecast_row, forecasts, rows
from gpu_course.claims.row import Row
from gpu_course.puzzle import index
from tests.course.leaks import digits_of, leaked
from tests.course.sources import SOURCES, Cell, Forecast, cells_of, forecasts_of
from tests.course.test_predictions import around, sentences, shown_by_each, words

LESSONS = [pytest.param(path, id=path.stem) for path in SOURCES]
ALONE = "stands in a cell of its own"


def gives_away(cells: list[Cell], asked: Forecast, row: Row) -> str:
    """What of a forecast can be read before it is compared, "" for nothing."""
    if asked.told < 0:
        return "no cell compares it"
    asking = cells[asked.asked]
    if len([line for line in asking.text.splitlines() if line.strip()]) > 1:
        return f"it {ALONE}"
    if "nbval-ignore-output" not in asking.tags:
        return "its cell lacks the tag nbval-ignore-output"
    for cell in cells[: asked.told + 1]:
        if digits := leaked(cell.text, row):
            return f"{digits} stands before it: {cell.text[:60]}"
    return ""


@pytest.mark.parametrize("path", LESSONS)
def test_nothing_gives_a_forecast_away(path: Path) -> None:
    cells = cells_of(path)
    asked = forecasts_of(cells)
    found = {each.name: gives_away(cells, each, forecast_row(each.name)) for each in asked}
    assert {name: why for name, why in found.items() if why} == {}


@pytest.mark.parametrize("path", LESSONS)
def test_what_is_told_earlier_gives_nothing_of_a_later_forecast_away(path: Path) -> None:
    asked = forecasts_of(cells_of(path))
    for later in asked:
        row = forecast_row(later.name)
        for earlier in asked:
            if earlier.told < later.told:
                question = forecast_row(earlier.name).forecast
                assert question is not None
                told = f"{question.question} {question.seen}"
                assert leaked(told, row) == "", f"{earlier.name} tells {later.name}"


ELSEWHERE = {
    "h100-shared-loads": {
        "128 of float32": "operations of an SM in a clock",
        "128 / bytes of stack": "registers",
    },
    "a100-matmul-zeros": {"ridge at 295 FLOP/byte": "a ratio, of another card"},
    "ring-gathered-documents": {
        "57.0 % of the time is work": "the count of a plain ring, from which the forecast begins",
    },
    "megatron-groups": {
        "8 groups of pp.": "of another mesh and another axis",
    },
}
"""Forecast -> {where its printed digits stand above it: what they say there}."""


@pytest.mark.parametrize("path", LESSONS)
def test_no_cell_above_a_forecast_shows_what_was_measured(path: Path) -> None:
    cells = cells_of(path)
    shown = shown_by_each(path.parents[2] / "solutions" / "notebooks" / f"{path.stem}.ipynb")
    for asked in forecasts_of(cells):
        row = forecast_row(asked.name)
        found = [
            around(below, match)
            for below in shown[: asked.told]
            for match in re.finditer(digits_of(row.printed, row.unit), below)
        ]
        known = ELSEWHERE.get(asked.name, {})
        assert [each for each in found if not any(words in each for words in known)] == []
        assert [words for words in known if not any(words in each for each in found)] == []


@pytest.mark.parametrize("path", LESSONS)
def test_what_was_seen_stands_on_the_board_alone(path: Path) -> None:
    source = words(path.read_text(encoding="utf-8"))
    for row in forecasts():
        assert row.forecast is not None
        assert not {s for s in sentences(row.forecast.seen) if s in source}


def test_every_forecast_is_asked_in_one_lesson() -> None:
    asked = {path.stem: [each.name for each in forecasts_of(cells_of(path))] for path in SOURCES}
    known = {row.forecast.name for row in forecasts() if row.forecast}
    assert {name for names in asked.values() for name in names} <= known
    for row in forecasts():
        assert row.forecast is not None
        places = [stem for stem, names in asked.items() for n in names if n == row.forecast.name]
        here = [lesson for lesson in row.lessons if lesson in asked]
        assert len(places) == bool(here) and set(places) <= set(here), row.forecast.name


ROW = forecast_row("h100-add-large")
ASK = Cell("code", 'guess = forecast("h100-add-large")', ("nbval-ignore-output",))
TELL = Cell("code", "guess.compare()")
MINE = f"{ROW.mine:.2f}"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([ASK, TELL], ""),
        ([ASK], "no cell compares"),
        ([Cell("code", "import os\n" + ASK.text, ASK.tags), TELL], ALONE),
        ([Cell("code", ASK.text), TELL], "lacks the tag"),
        ([Cell("markdown", f"It took {ROW.printed} ms."), ASK, TELL], "stands before"),
        ([Cell("markdown", f"It took {ROW.printed}."), ASK, TELL], "stands before"),
        ([ASK, Cell("code", f"print({MINE})"), TELL], "stands before"),
        ([ASK, TELL, Cell("markdown", f"So it took {ROW.printed} ms.")], ""),
        ([Cell("markdown", f"Section 1{ROW.printed}, {ROW.printed}2 GB."), ASK, TELL], ""),
    ],
)
def test_a_planted_leak_is_found(cells: list[Cell], why: str) -> None:
    (asked,) = forecasts_of(cells)
    found = gives_away(cells, asked, ROW)
    assert why in found if why else not found


PARALLELISM = 4
PARALLEL = [path for path in SOURCES if index.lesson(path.stem).part == PARALLELISM]


def shown_in(outputs: str, cells: list[Cell], row: Row) -> bool:
    """Whether a lesson shows a row beside our own number: in a table, or after a forecast."""
    asked = {each.name for each in forecasts_of(cells)}
    return (row.place in outputs and row.what in outputs) or (
        row.forecast is not None and row.forecast.name in asked
    )


@pytest.mark.parametrize("path", PARALLEL, ids=lambda path: path.stem)
def test_a_lesson_shows_every_number_that_the_board_says_it_shows(path: Path) -> None:
    solved = path.parents[2] / "solutions" / "notebooks" / f"{path.stem}.ipynb"
    outputs = stored_outputs(solved)
    missing = [row.what for row in rows(path.stem) if not shown_in(outputs, cells_of(path), row)]
    assert missing == []
    assert not shown_in("", [], rows(path.stem)[0])


def stored_outputs(notebook: Path) -> str:
    """Everything that stands below the cells of a notebook, words apart by one blank."""
    texts = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        for output in cell.get("outputs", []):
            texts += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    return " ".join(" ".join(texts).split())
