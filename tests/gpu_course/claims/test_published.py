"""Every published number the course matches: its model computes it as closely as was said."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from gpu_course.claims import models, published
from gpu_course.claims.published import (
    Kind,
    Paper,
    Row,
    board,
    compared,
    count,
    mine_text,
    rows,
    to_json,
)
from gpu_course.claims.tables.korthikanti import TABLE_3
from gpu_course.claims.tables.korthikanti_recompute import TABLE_5, hardware_percent
from gpu_course.errors import CatalogueError
from gpu_course.puzzle import index, outline

ROWS = rows()
EXACT = "to the last printed digit"
PAPER = Paper("Somebody 2020", "On something", "https://example.org")


def row(printed: str, mine: float, **more: object) -> Row:
    more.setdefault("kind", Kind.formula)
    return Row(PAPER, "Table 1", "a cell", printed, "GB", lambda: mine, "by hand", (), **more)


@pytest.mark.parametrize("each", ROWS, ids=lambda r: f"{r.paper.name}-{r.place}-{r.what}")
def test_the_model_computes_what_was_published(each: Row) -> None:
    assert each.holds is not False, f"mine {each.mine}, published {each.printed}"
    # A wider margin than the last digit's, and a difference without a verdict, have their reason.
    assert (each.margin == each.rounding and each.verdict) or each.note
    assert each.how and each.lessons and each.paper.url.startswith("https://")


def test_every_number_names_lessons_of_the_course() -> None:
    here = {lesson.name[:2]: lesson.name for lesson in index.lessons()}
    for name in {name for each in ROWS for name in each.lessons}:
        # A lesson that is still to come has its number in the outline.
        assert name[:2] in {planned.number for planned in outline.COURSE}
        assert here.get(name[:2], name) == name


def test_lesson_16_has_its_numbers() -> None:
    mine = rows("16_memory_ledger")
    places = {place: len(rows("16_memory_ledger", place)) for place in {r.place for r in mine}}
    assert places == {
        "Figure 7": 16,
        "Figure 1": 12,
        "Memory for weights, gradients and optimizer states": 8,
    }
    assert all(r.to_the_digit for r in rows("16_memory_ledger", "Figure 1"))


def test_figure_7_was_read_off_in_steps_of_a_pixel() -> None:
    """What the note says of the digits: each is a whole number of steps of 100 / 562.5."""
    step = 100 / 562.5
    read_off = rows("16_memory_ledger", "Figure 7")
    assert len(read_off) == 16
    for each in read_off:
        assert abs(each.published / step - round(each.published / step)) * step <= each.rounding
        assert abs(each.difference) < step


@pytest.mark.parametrize(
    ("printed", "mine", "to_the_digit"),
    [
        ("66.84", 66.8449, True),
        ("66.84", 66.8451, False),
        ("66.84", 66.8349, False),
        ("45.56", 45.5625, True),
        ("140", 140.49, True),
        ("140", 139.4, False),
        ("1,120", 1120.0, True),
        ("2.50", 2.504, True),
        ("2.50", 2.51, False),
    ],
)
def test_agreement_is_by_the_last_printed_digit(printed, mine, to_the_digit) -> None:
    each = row(printed, mine)
    assert each.to_the_digit == each.holds == to_the_digit


@pytest.mark.parametrize(
    ("printed", "mine", "text"),
    [("63", 62.5, "63"), ("19", 17.0, "17"), ("90", 80.0, "80"), ("1.5", 17.0, "17.00")],
)
def test_what_a_model_gives_is_told_as_printed_or_with_the_digits_it_has(
    printed: str, mine: float, text: str
) -> None:
    assert published.mine_text(row(printed, mine)) == text


def test_a_stated_margin_is_a_margin_and_no_more() -> None:
    assert row("10.0", 10.2, inputs_rounding=lambda: 0.2).holds
    assert row("10.0", 10.3, inputs_rounding=lambda: 0.2).holds is False
    assert row("10.0", float("nan")).holds is False
    assert row("10.0", 99.0, verdict=False).holds is None


def test_a_margin_does_not_know_the_result() -> None:
    """It is the same whatever the model computes, and is made of rounding alone."""
    for each in ROWS:
        other = replace(each, model=lambda: 1e9)
        assert other.margin == each.margin
        assert not other.to_the_digit


@pytest.mark.parametrize("model", list(TABLE_5))
def test_the_margin_of_a_utilisation_is_what_the_rounding_of_its_input_can_do(model: str) -> None:
    (each,) = (r for r in ROWS if r.place == "Table 5" and r.what.startswith(f"{model},"))
    used = float(TABLE_5[model][0])
    ends = [hardware_percent(TABLE_3[model], used + off) for off in (-0.05, 0.05)]
    assert (ends[1] - ends[0]) / 2 + 0.05 == pytest.approx(each.margin)


def test_nothing_that_cannot_differ_is_counted_as_a_test() -> None:
    assert {r.paper.name for r in ROWS if r.kind is Kind.identity} == {
        "Boehm, the ladder",
        "Inside NCCL",
        "Ultra-Scale Playbook",
    }
    assert not [r for r in ROWS if r.printed == "100"]
    identities = [r for r in ROWS if r.kind is Kind.identity]
    said = count(identities)
    assert said.startswith("0 published numbers, tested")
    assert f"{len(identities)} by definition" in said


def test_the_text_says_mine_published_and_difference_and_marks_what_is_too_far() -> None:
    text = compared(
        [
            row("10.0", 10.01),
            replace(row("10.0", 10.2, inputs_rounding=lambda: 0.5, note="why"), what="near"),
        ]
        + [replace(row("10.0", 12.5), what="far")]
    )
    lines = text.splitlines()
    assert lines[0] == "Somebody 2020, Table 1"
    assert lines[1].split() == ["mine", "published", "difference"]
    assert lines[2].split() == ["a", "cell", "[GB]", "10.0", "10.0", "none"]
    assert lines[3].split() == ["near", "[GB]", "10.20", "10.0", "+0.20"]
    assert lines[4].split()[:5] == ["far", "[GB]", "12.50", "10.0", "+2.50"]
    assert lines[4].endswith(" far")
    assert lines[5] == "  * why"


@pytest.mark.parametrize("printed", ["1120", "1,120"])
def test_mine_and_published_are_written_alike(printed: str) -> None:
    assert compared([row(printed, 1120.0)]).split()[-3:] == ["1,120", "1,120", "none"]


@pytest.mark.parametrize("what", ["short", "a name as long as the longest of them"])
@pytest.mark.parametrize(
    ("printed", "mine"),
    [
        ("1,767.29", 2.56),
        ("2,980.3", 4_837.5),
        ("15,971.7", 38_700.0),
        ("1.32556", 1.28208),
        ("7,123,456.7", 61_234_567.8),
    ],
)
def test_no_number_touches_its_neighbour(printed: str, mine: float, what: str) -> None:
    wide = replace(row(printed, mine, verdict=False), what=what, unit="")
    others = [row("1", 2.0, verdict=False), row("10.0", 10.21, verdict=False)]
    lines = compared([others[0], wide, others[1]]).splitlines()
    assert max(map(len, lines)) <= 70
    columns = [[*re.finditer(r"\S+", line)][-4:] for line in lines if line.endswith("open")]
    off = mine - float(printed.replace(",", ""))
    digits = max(len(printed.partition(".")[2]), 2 if mine < 100 else 1)
    expected = [f"{mine:,.{digits}f}", printed, f"{off:+,.{digits}f}", "open"]
    assert [found.group() for found in columns[1]] == expected
    # The numbers of one table end below each other, and below their headings.
    ends = {tuple(found.end() for found in numbers) for numbers in columns}
    heads = [found.end() for found in re.finditer(r"\S+", lines[1])]
    assert len(ends) == 1 and list(ends.pop()) == [*heads[:2], heads[2] - 5, heads[2]]


def test_no_number_of_the_board_touches_its_neighbour() -> None:
    for each in ROWS:
        line = " ".join(compared([each]).splitlines()[2:4])
        mine = re.escape(mine_text(each))
        assert re.search(rf" {mine} +[\d,.]+ +(none|[-+][\d,.]+)( |$)", line), line


def test_no_line_of_the_board_is_wider_than_a_learner_sees() -> None:
    assert [line for line in board().splitlines() if len(line) > 70] == []


def test_the_count_hides_nothing() -> None:
    several = (
        row("1", 1.0),
        row("1", 1.7, inputs_rounding=lambda: 0.3, note="why"),
        row("1", 9.0, kind=Kind.measurement),
        row("1", 1.0, kind=Kind.measurement, verdict=False, note="why"),
        row("1", 1.0, kind=Kind.identity),
    )
    assert count(several).splitlines() == [
        "4 published numbers, tested; 1 source:",
        "  2 from a formula that the source used as well",
        f"    1 {EXACT}",
        "    1 within the rounding of their inputs",
        "    0 open",
        "  2 measured by somebody, and predicted here",
        f"    0 {EXACT}",
        "    0 within the rounding of their inputs",
        "    1 open",
        "    1 farther off",
        "  and 1 by definition, which cannot differ and test nothing",
    ]
    assert board().endswith(count(ROWS))
    assert count(ROWS).startswith(str(sum(r.kind is not Kind.identity for r in ROWS)))


def test_the_board_as_data_holds_every_row() -> None:
    data = to_json(ROWS)
    assert len(data) == len(ROWS)
    assert all(entry["holds"] is not False for entry in data)
    assert {entry["kind"] for entry in data} == {kind.value for kind in Kind}
    assert {entry["paper"] for entry in data} == {each.paper.name for each in ROWS}


def test_a_number_that_stands_twice_is_refused() -> None:
    twice = [("a.toml", ROWS[0]), ("b.toml", ROWS[0])]
    with pytest.raises(CatalogueError, match=f"{ROWS[0].what} stands on the board twice"):
        published.checked(twice)


FILE = """
name = "Somebody 2020"
title = "On something"
url = "https://example.org"

[[table]]
place = "Table 1"
unit = "GB"
kind = "formula"
lessons = ["16_memory_ledger"]
model = "states_gb"
how = "16 bytes per parameter"

[[table.row]]
what = "7B"
printed = "112.0"
arguments = { parameters = 7e9, recipe = "bfloat16" }
inputs_rounding = { parameters = 1e6 }
"""
THIS_ROW = "slip.toml, Table 1, 7B: "


def read(text: str) -> tuple[Row, ...]:
    return published.checked(("slip.toml", row) for row in published.read_rows(text, "slip.toml"))


def test_a_file_gives_rows() -> None:
    (each,) = read(FILE)
    assert (each.paper.name, each.place, each.what) == ("Somebody 2020", "Table 1", "7B")
    assert each.mine == 112.0
    assert each.holds
    assert each.verdict
    assert each.margin == pytest.approx(0.05 + 16e6 / 1e9)
    # A margin may be given as it is, in the row's unit.
    assert read(FILE.replace("{ parameters = 1e6 }", "0.25"))[0].margin == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("there", "slip", "told"),
    [
        ('place = "Table 1"\n', "", "slip.toml, table 1: Object missing required field `place`"),
        ('url = "https://example.org"\n', "", "slip.toml: Object missing required field `url`"),
        ("[[table]]", "[[tabel]]", "slip.toml: Object contains unknown field `tabel`"),
        (
            "[[table.row]]",
            "[[table.rows]]",
            "slip.toml, Table 1: Object missing required field `row`",
        ),
        ("[[table.row]]", "[[table.row]", "slip.toml is no TOML: "),
        (
            "[[table.row]]\n",
            "row = [7]\n",
            "slip.toml, Table 1: Expected `object`, got `int` - at `$.row[0]`",
        ),
        ('what = "7B"\n', "", "slip.toml, Table 1, row 1: Object missing required field `what`"),
        (
            'what = "7B"',
            'what = ""',
            "slip.toml, Table 1, row 1: Expected `str` of length >= 1 - at `$.what`",
        ),
        ('unit = "GB"\n', "", THIS_ROW + "Object missing required field `unit`"),
        ('how = "16 bytes per parameter"\n', "", THIS_ROW + "Object missing required field `how`"),
        (
            "inputs_rounding",
            "input_rounding",
            THIS_ROW + "Object contains unknown field `input_rounding`",
        ),
        ("[[table.row]]", '[[table.row]]\nunit = "GiB"', THIS_ROW + "unit stands in the table and"),
        ('"112.0"', "112.0", THIS_ROW + "Expected `str`, got `float` - at `$.printed`"),
        ('"112.0"', '"112 GB"', THIS_ROW + "the printed digits are '112 GB', and no number"),
        ('"112.0"', '"11,2"', THIS_ROW + "the printed digits are '11,2', and no number"),
        ('"112.0"', '"nan"', THIS_ROW + "the printed digits are 'nan', and no number"),
        (
            'kind = "formula"',
            'kind = "guess"',
            THIS_ROW + "Invalid enum value 'guess' - at `$.kind`",
        ),
        (
            '["16_memory_ledger"]',
            "[]",
            THIS_ROW + "Expected `array` of length >= 1 - at `$.lessons`",
        ),
        (
            '["16_memory_ledger"]',
            "[16]",
            THIS_ROW + "Expected `str`, got `int` - at `$.lessons[0]`",
        ),
        ("16_memory_ledger", "memory 16", THIS_ROW + "no lesson is called 'memory 16'"),
        ('"states_gb"', '"state_gb"', THIS_ROW + "no model is called 'state_gb'"),
        ("parameters = 7e9, ", "", THIS_ROW + "inputs_rounding has parameters"),
        ("7e9, ", "7e9, seed = 1, ", THIS_ROW + "the arguments of states_gb: got an unexpected"),
        (', recipe = "bfloat16"', "", THIS_ROW + "the arguments of states_gb: missing a required"),
        ('"bfloat16"', '"bf16"', THIS_ROW + "recipe is 'bf16', and no one of bfloat16, float32"),
        ("{ parameters = 1e6 }", "{ recipe = 1 }", THIS_ROW + "inputs_rounding has recipe"),
        (
            "{ parameters = 1e6 }",
            '"a bit"',
            THIS_ROW + "Expected `float | object | null`, got `str` - at ",
        ),
        (
            "{ parameters = 1e6 }",
            "1\nverdict = 0",
            THIS_ROW + "Expected `bool`, got `int` - at `$.verdict`",
        ),
        ("{ parameters = 1e6 }", "inf", THIS_ROW + "inputs_rounding cannot be inf"),
        ("{ parameters = 1e6 }", "-0.1", THIS_ROW + "inputs_rounding cannot be -0.1"),
        ("1e6", "nan", THIS_ROW + "inputs_rounding has parameters = nan"),
        (
            "{ parameters = 1e6 }",
            "true",
            THIS_ROW + "Expected `float | object | null`, got `bool` - at",
        ),
    ],
)
def test_a_slip_in_a_file_is_told_with_its_row(there: str, slip: str, told: str) -> None:
    assert there in FILE
    with pytest.raises(CatalogueError) as error:
        read(FILE.replace(there, slip))
    assert str(error.value).startswith(told)


def a_module(name: str) -> ModuleType:
    """A module with a model `states_gb`, and one that it has from elsewhere."""
    module = ModuleType(name)
    code = "@model()\ndef states_gb():\n    return 0.0\n"
    module.__dict__.update(model=models.model, borrowed=published._models()["states_gb"].function)
    exec(code, module.__dict__)
    return module


def test_two_models_of_one_name_are_refused() -> None:
    one, other = a_module("one"), a_module("other")
    assert list(models.models_of([one])) == ["states_gb"]
    with pytest.raises(CatalogueError, match="other and one both have a model states_gb"):
        models.models_of([one, other])


def test_published_values_are_never_what_the_model_returns() -> None:
    """A model that reads the printed table would agree by construction: none may name it."""
    found = published._models()
    assert {each.computed_by for each in rows()} <= set(found)
    for name, each in found.items():
        used = set(inspect.unwrap(each.function).__code__.co_names)
        assert not used & {"TABLE_5", "printed", "rows", "published"}, name


def test_the_board_needs_no_torch_for_formulas() -> None:
    code = (
        "import sys\n"
        "from gpu_course.claims.published import rows\n"
        "[row.mine for row in rows('16_memory_ledger')]\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
