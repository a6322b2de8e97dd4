"""Every published number beside the course's own, and margins that were there before the value."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import partial
from types import ModuleType

import pytest

from gpu_course.claims import models, published
from gpu_course.claims.kinds import BOUNDS, MARGINS, PREDICTED, SAID, SHORT, Kind
from gpu_course.claims.published import (
    board,
    compared,
    count,
    mine_text,
    outside,
    rows,
    to_json,
)
from gpu_course.claims.reading import read_rows
from gpu_course.claims.row import Paper, Row, Spread
from gpu_course.claims.tables.korthikanti import TABLE_3
from gpu_course.claims.tables.korthikanti_recompute import TABLE_5, hardware_percent
from gpu_course.errors import CatalogueError
from gpu_course.puzzle import index, outline

ROWS = rows()
PAPER = Paper("Somebody 2020", "On something", "https://example.org")


def row(printed: str, mine: float, **more: object) -> Row:
    more.setdefault("kind", Kind.formula)
    return Row(PAPER, "Table 1", "a cell", printed, "GB", lambda: mine, "by hand", (), **more)


WORKED_OUT = {
    ("colibri", "cudaLaunchKernel"),
    ("Cards of models with experts", "DeepSeek-V3, with embedding and head"),
    ("Cards of models with experts", "Qwen3 30B-A3B"),
    ("DeepSpeed", "stage 2: GPU"),
    ("Fire-Flyer 2024", "10,000 ports, three levels"),
    ("FlashMLA", "query rows that make decoding bound by compute"),
    ("GPU Glossary", "12 KB for 32 threads, H100"),
    ("Harm de Vries, Go smol or go home", "SantaCoder, at 0.46 of the size"),
    ("Harm de Vries, Go smol or go home", "at a quarter of the size"),
    ("Harm de Vries, Go smol or go home", "at half the size"),
    ("Llama 3 2024, failures", "confirmed GPU issues"),
    ("Llama 3 2024, failures", "faulty GPU"),
    ("LoongForge", "the all-gather in 8 bits alone"),
    ("Megatron-Bridge, dense", "Llama 3 70B, 64 GB300, NVFP4"),
    ("Megatron-Bridge 26.06, experts", "GPT-OSS 120B, 64 GB300"),
    ("Profiling in PyTorch, part 1", "idle in cudaDeviceSynchronize"),
    ("Scaling book: training", "all of LLaMA 3 70B"),
    ("Scaling book: training", "feed-forward"),
    ("SemiAnalysis 2024", "energy of a year"),
    ("SemiAnalysis 2024", "power of the computers"),
    ("ZeRO 2019", "128B on 1,024, stage 2"),
    ("ZeRO 2019", "1T on 64, stage 2"),
    ("ZeRO 2019", "1T on 1,024, stage 1"),
    ("ZeRO 2019", "1T on 1,024, stage 2"),
    ("gpt-fast", "Llama-2-7B, GB/s"),
    ("torchtitan", "5,762 tokens/s, not compiled"),
}
"""Where the source and we work a number out differently, known one by one: another would be a slip
of ours. Of what somebody measured there is no such list: a model may be wrong, and the board says
so."""


def test_what_is_worked_out_differs_only_where_it_is_known_to() -> None:
    exact = {Kind.identity, Kind.formula, Kind.again}
    found = {(r.paper.name, r.what) for r in ROWS if r.kind in exact and r.holds is False}
    assert found == WORKED_OUT


@pytest.mark.parametrize("each", ROWS, ids=lambda r: f"{r.paper.name}-{r.place}-{r.what}")
def test_a_number_that_is_outside_says_what_is_known_of_it(each: Row) -> None:
    assert each.holds is not False or each.note or each.breaks
    assert each.how and each.lessons and each.paper.url.startswith("https://")


def test_claims_can_lose_and_some_have_lost() -> None:
    for kind in (Kind.scaled, Kind.prediction, Kind.ceiling):
        assert {False, True} <= {r.holds for r in ROWS if r.kind is kind}


def test_what_has_no_verdict_lacks_something_of_the_source() -> None:
    lacking = {(r.paper.name, r.place) for r in ROWS if r.missing}
    assert lacking == {
        ("Beaumont 2019", "average of all experiments"),
        ("Chen 2016", "Abstract"),
        ("FlashFormer", "share of an H100's bandwidth, one sequence"),
        ("GaLore 2024", "Abstract"),
        ("GaLore 2024", "Table 2, memory"),
        ("Gemini, goodput", "Section 3, goodput"),
        ("Ivanov 2020", "Table 1, share of the FLOP"),
        ("Llama 3, interruptions", "Section 3.3.4, effective training time"),
        ("MegaScale, recovery", "Section 6.3, effective training time"),
        ("OPT-175B, chronicles", "56_percent_update, the longest run"),
        ("PaLM 2022", "Table 3 and the text below it"),
        ("PaLM, layout", "Section 4, gradients between the pods"),
    }
    assert all((r.holds is None) == (r.kind is Kind.fitted or bool(r.missing)) for r in ROWS)


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
    assert row("10.0", 99.0, missing="the unit").holds is None
    assert row("10.0", 10.0, kind=Kind.fitted).holds is None


@pytest.mark.parametrize(
    ("kind", "mine", "holds"),
    [
        (Kind.floor, 9.0, True),
        (Kind.floor, 10.04, True),
        (Kind.floor, 10.06, False),
        (Kind.ceiling, 11.0, True),
        (Kind.ceiling, 9.96, True),
        (Kind.ceiling, 9.94, False),
        (Kind.again, 10.04, True),
        (Kind.again, 10.06, False),
        (Kind.scaled, 10.9, True),
        (Kind.scaled, 11.2, False),
        (Kind.scaled, 9.2, True),
        (Kind.scaled, 9.0, False),
        (Kind.floor, float("nan"), False),
        (Kind.scaled, float("nan"), False),
    ],
)
def test_each_kind_can_fail_in_its_own_way(kind: Kind, mine: float, holds: bool) -> None:
    assert row("10.0", mine, kind=kind).holds is holds


def test_a_prediction_has_the_margin_of_what_its_model_predicts() -> None:
    for name, share in (("one_card_gib", 0.10), ("gain_of_balance", 0.15)):
        each = row("10.0", 20.0, kind=Kind.prediction, computed_by=name)
        assert each.allowed.share == share
        assert each.margin == pytest.approx(0.05 + 20 * share)


def test_a_spread_that_the_source_states_takes_the_place_of_the_kinds_margin() -> None:
    each = row("10.0", 10.3, kind=Kind.scaled, spread=Spread(0.2, "Table 1"))
    assert each.margin == pytest.approx(0.25) and each.holds is False
    assert each.judged == "outside its margin"
    assert "room for 0.2 GB: Table 1." in compared([each])


def test_a_margin_does_not_know_the_published_number() -> None:
    """It is the same whatever was printed, with as many digits.

    What a model gives and what the rounding of its inputs can do take no argument, so that they are
    asked once.
    """
    for each in ROWS:
        _, point, rest = each.printed.partition(".")
        off = each.inputs_rounding and partial(float, each.inputs_rounding())
        other = replace(
            each,
            printed=f"123{point}{rest}",
            model=partial(float, each.mine),
            inputs_rounding=off,
        )
        assert other.margin == each.margin


def test_a_row_says_no_number_of_its_own_for_a_margin() -> None:
    """What a file may say of a margin is a spread with its place, and names of arguments."""
    said = {path: path.read_text("utf-8") for f in models.folders() for path in f.glob("*.toml")}
    assert len(said) > 30
    for path, text in said.items():
        for table in tomllib.loads(text)["table"]:
            for each in (table, *table["row"]):
                names = each.get("inputs_rounding", [])
                assert isinstance(names, list) and all(isinstance(n, str) for n in names)
                stated = each.get("spread", {"off": 1.0, "place": "."})
                assert set(stated) == {"off", "place"} and stated["place"], path.name
    # Nor has a model one, where its row would be in sight: the numbers are those of one table.
    predicts = {each.predicts for each in models.known().values()}
    assert predicts <= {"", *PREDICTED}
    with pytest.raises(CatalogueError, match="nothing says how far off that may be"):
        models.model("0.2")


def test_every_margin_has_its_reason() -> None:
    assert set(MARGINS) | {Kind.prediction} == set(Kind) == set(SAID) == set(SHORT)
    for margin in (*MARGINS.values(), *PREDICTED.values()):
        assert margin.reason.endswith(".") and len(margin.reason) < 100
        # A reason that names one row's number would have come after it.
        assert margin.share in (0.0, 0.05, 0.10, 0.15, 0.20)


def test_where_a_model_is_said_to_break_it_does() -> None:
    """It is outside its margin, or a bound that is a tenth or more away."""
    for each in (r for r in ROWS if r.breaks):
        far = abs(each.mine / each.published - 1) > 0.1
        assert each.holds is False or (each.kind in BOUNDS and far), each.what


@pytest.mark.parametrize("model", list(TABLE_5))
def test_the_margin_of_a_utilisation_is_what_the_rounding_of_its_input_can_do(model: str) -> None:
    (each,) = (r for r in ROWS if r.place == "Table 5" and r.what.startswith(f"{model},"))
    used = float(TABLE_5[model][0])
    ends = [hardware_percent(TABLE_3[model], used + off) for off in (-0.05, 0.05)]
    assert (ends[1] - ends[0]) / 2 + 0.05 == pytest.approx(each.margin)


def test_what_cannot_differ_is_counted_apart() -> None:
    identities = [r for r in ROWS if r.kind is Kind.identity]
    assert {r.paper.name for r in identities} == {"Ultra-Scale Playbook"}
    assert all(r.to_the_digit for r in identities)
    assert not [r for r in ROWS if r.printed == "100"]
    assert count(identities).splitlines()[2].split() == ["by", "definition", "8", "8", "0", "0"]


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
    assert lines[2] == "  worked out by the source from the same formula:"
    assert lines[3].split() == ["a", "cell", "[GB]", "10.0", "10.0", "none"]
    assert lines[4].split() == ["near", "[GB]", "10.20", "10.0", "+0.20", "inside"]
    assert lines[5].split() == ["far", "[GB]", "12.50", "10.0", "+2.50", "outside"]
    assert lines[6] == "  * near: why"


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        ("a", "* a: why"),
        ("a b", "* a, b: why"),
        ("a b c d", "* a, b, c, 1 more: why"),
        ("a b c d e", "* why"),
    ],
)
def test_a_note_names_its_rows_unless_it_is_of_all(noted: str, said: str) -> None:
    table = [
        replace(row("10.0", 10.0, note="why" if what in noted else ""), what=what)
        for what in "abcde"
    ]
    lines = compared(table).splitlines()
    assert [line.strip() for line in lines if "why" in line] == [said]


def test_a_bound_on_what_nobody_measured_does_not_speak_of_a_measurement() -> None:
    for kind, side in ((Kind.floor, "above"), (Kind.ceiling, "below")):
        line = compared([row("10.0", 10.0, kind=kind, worked_out=True)]).splitlines()[2]
        assert line == f"  a {kind.value}, so what the source worked out must lie {side} it:"


def test_a_spread_that_several_rows_share_is_told_once() -> None:
    table = [
        row("10.0", 9.0, kind=Kind.scaled, spread=Spread(off, "Section 2")) for off in (4.0, 2.5)
    ]
    table.append(row("10.0", 9.0, kind=Kind.scaled, spread=Spread(1.0, "Section 3")))
    notes = [line for line in compared(table).splitlines() if line.startswith("  * ")]
    assert notes == [
        "  * The source leaves room for 4, 2.5 GB: Section 2.",
        "  * The source leaves room for 1 GB: Section 3.",
    ]


def test_kinds_stand_apart_within_a_table() -> None:
    mixed = [
        row("10.0", 9.0, kind=Kind.scaled),
        row("10.0", 9.0, kind=Kind.floor),
        replace(row("10.0", 12.0, kind=Kind.scaled), what="other"),
    ]
    lines = compared(mixed).splitlines()
    assert lines[2] == "  a floor, so what was measured must lie above it:"
    assert lines[3].endswith(" bound")
    assert lines[4] == "  scaled from another measurement of the source, within 10 %:"
    assert [line.split()[-1] for line in lines[5:]] == ["outside", "outside"]
    assert len(compared(mixed, kinds=False).splitlines()) == 5


def test_an_assumption_is_told_once_with_all_rows_that_it_is_of() -> None:
    broken = [
        replace(row("10.0", 99.0, kind=Kind.scaled, breaks="cache"), what=what)
        for what in ("one", "two")
    ]
    text = " ".join(compared(broken).split())
    assert "* one, two: the model breaks here: cache. The model sends" in text
    assert text.count("the model breaks here") == 1


def test_what_is_outside_is_told_in_a_line_each() -> None:
    found = outside([row("10.0", 10.0), replace(row("10.0", 12.5), what="far")])
    assert found == "  Somebody 2020, Table 1, far: 12.50, published 10.0 GB"
    assert outside([row("10.0", 10.0)]) == ""


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
    wide = replace(row(printed, mine, missing="a unit"), what=what, unit="")
    others = [row("1", 2.0, missing="a unit"), row("10.0", 10.21, missing="a unit")]
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
        lines = compared([each], kinds=False).splitlines()
        # Where a table stands may take a line or two.
        head = next(k for k, text in enumerate(lines) if text.split()[:2] == ["mine", "published"])
        line = " ".join(lines[head + 1 : head + 3])
        mine = re.escape(mine_text(each))
        assert re.search(rf" {mine} +[\d,.]+ +(none|[-+][\d,.]+)( |$)", line), line


def test_no_line_of_the_board_is_wider_than_a_learner_sees() -> None:
    assert [line for line in board().splitlines() if len(line) > 70] == []


def test_the_count_hides_nothing() -> None:
    several = (
        row("1", 1.0),
        row("1", 1.7, inputs_rounding=lambda: 0.3, note="why"),
        row("1", 9.0, kind=Kind.scaled),
        row("1", 1.0, kind=Kind.ceiling),
        row("1", 1.0, kind=Kind.scaled, missing="the unit"),
        row("1", 1.0, kind=Kind.identity),
    )
    assert count(several).splitlines() == [
        "6 published numbers, 1 source",
        "                            rows   inside  outside   no verdict",
        "  by definition                1        1        0            0",
        "  same formula                 2        2        0            0",
        "  bounds: ceilings             1        1        0            0",
        "  scaled                       2        0        1            1",
        "  all                          6        4        1            1",
    ]


def test_the_board_has_a_part_for_each_kind_then_what_is_outside_then_the_count() -> None:
    text = board()
    assert text.endswith(count(ROWS))
    headings = [text.index(SAID[kind][1:]) for kind in Kind]
    assert headings == sorted(headings)
    assert headings[-1] < text.index("Outside their margins:") < text.index(count(ROWS))
    assert outside(ROWS) in text
    told = " ".join(text.split())
    assert "within 10 %." in told and MARGINS[Kind.scaled].reason in told


def test_the_board_as_data_holds_every_row() -> None:
    data = to_json(ROWS)
    assert len(data) == len(ROWS)
    assert {entry["kind"] for entry in data} == {kind.value for kind in Kind}
    assert {entry["paper"] for entry in data} == {each.paper.name for each in ROWS}
    assert [entry["holds"] for entry in data] == [each.holds for each in ROWS]
    unjudged = [entry for entry in data if entry["holds"] is None]
    assert all(entry["missing"] or entry["kind"] == "fitted" for entry in unjudged)


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
inputs_rounding = ["parameters"]
"""
THIS_ROW = "slip.toml, Table 1, 7B: "


def read(text: str) -> tuple[Row, ...]:
    return published.checked(("slip.toml", row) for row in read_rows(text, "slip.toml"))


def test_a_file_gives_rows() -> None:
    (each,) = read(FILE)
    assert (each.paper.name, each.place, each.what) == ("Somebody 2020", "Table 1", "7B")
    assert each.mine == 112.0
    assert each.holds
    # The digits of an input say how far off it may be: 7.1 by 0.05, and 7 by 0.5.
    assert read(FILE.replace("7e9", "7.1"))[0].margin == pytest.approx(0.05 + 16 * 0.05 / 1e9)
    assert read(FILE.replace("7e9", "7"))[0].margin == pytest.approx(0.05 + 16 * 0.5 / 1e9)
    spread = "spread = { off = 0.25, place = 'Figure 2' }"
    (each,) = read(FILE.replace('inputs_rounding = ["parameters"]', spread))
    assert each.spread == Spread(0.25, "Figure 2") and each.margin == pytest.approx(0.3)
    (each,) = read(FILE.replace('inputs_rounding = ["parameters"]', "missing = 'the unit'"))
    assert each.missing == "the unit" and each.holds is None


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
        ("parameters = 7e9, ", "", THIS_ROW + "inputs_rounding has 'parameters'"),
        ("7e9, ", "7e9, seed = 1, ", THIS_ROW + "the arguments of states_gb: got an unexpected"),
        (', recipe = "bfloat16"', "", THIS_ROW + "the arguments of states_gb: missing a required"),
        ('"bfloat16"', '"bf16"', THIS_ROW + "recipe is 'bf16', and no one of bfloat16, float32"),
        ('["parameters"]', '["recipe"]', THIS_ROW + "inputs_rounding has 'recipe'"),
        ('["parameters"]', '"a bit"', THIS_ROW + "Expected `array`, got `str` - at "),
        ('["parameters"]', "0.25", THIS_ROW + "inputs_rounding gives a number of its own"),
        (
            '["parameters"]',
            "{ parameters = 1e6 }",
            THIS_ROW + "inputs_rounding gives a number of its own",
        ),
        (
            'inputs_rounding = ["parameters"]',
            "spread = { off = 0.2 }",
            THIS_ROW + "Object missing required field `place` - at `$.spread`",
        ),
        (
            'inputs_rounding = ["parameters"]',
            "spread = { off = -1.0, place = 'Table 2' }",
            THIS_ROW + "Expected `float` > 0.0 - at `$.spread.off`",
        ),
        (
            'inputs_rounding = ["parameters"]',
            "verdict = false",
            THIS_ROW + "verdict is no key of a row",
        ),
        (
            'kind = "formula"',
            'kind = "measurement"',
            THIS_ROW + "kind is 'measurement', which does not say what could fail\n"
            "  try:    write one of identity, formula, again, fitted, floor",
        ),
        (
            'kind = "formula"',
            'kind = "formula"\nworked_out = true',
            THIS_ROW + "formula says by itself whether the number was measured",
        ),
        (
            'kind = "formula"',
            'kind = "prediction"',
            THIS_ROW + "nothing says how far off states_gb may be",
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
    module.__dict__.update(model=models.model, borrowed=models.known()["states_gb"].function)
    exec(code, module.__dict__)
    return module


def test_two_models_of_one_name_are_refused() -> None:
    one, other = a_module("one"), a_module("other")
    assert list(models.models_of([one])) == ["states_gb"]
    with pytest.raises(CatalogueError, match="other and one both have a model states_gb"):
        models.models_of([one, other])


def test_published_values_are_never_what_the_model_returns() -> None:
    """A model that reads the printed table would agree by construction: none may name it."""
    found = models.known()
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
