"""What others printed of their runs beside our count: what agrees, and what breaks."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.claims.tables.megatron_2021 import gpt_of
from gpu_course.lessons.counting.claims.reported import neox_parameters
from gpu_course.lessons.counting.configs import NEOX_20B

LESSON = "11_counting"
MINE = rows(LESSON)


def of(place: str):  # type: ignore[no-untyped-def]
    found = rows(LESSON, place)
    assert found, place
    return found


def test_both_tables_of_megatron_are_whole() -> None:
    first = [of(f"Table 1, {w}") for w in ("parameters", "percent of peak", "all GPUs together")]
    assert [len(table) for table in first] == [10, 10, 10]
    assert all(row.to_the_digit for table in first[:2] for row in table)
    days = [row for row in MINE if row.place.startswith("Table 2, days")]
    assert len(days) == 12 and all(abs(row.difference) < 1.05 and row.holds for row in days)


def test_eight_tp_over_nx_is_short_of_all_twelve() -> None:
    for row in MINE:
        if row.place.startswith("Table 2, days"):
            told = row.arguments
            gpt = gpt_of(told["layers"], told["hidden"])
            short = 8 * gpt.parameters / gpt.training_flop(2048, "layers")[1]
            assert 0.015 < 1 / short - 1 < 0.03


@pytest.mark.parametrize(
    ("place", "count"),
    [
        ("Table 3 and the text below it", 7),
        ("section 2.4, rate of a GPU", 3),
        ("a step of 2,048 sequences on 384 A100", 1),
        ("Training LLaMA 3, the run", 4),
        ("number of parameters", 2),
        ("all results", 3),
    ],
)
def test_what_is_worked_out_from_the_same_formula_agrees(place: str, count: int) -> None:
    found = of(place)
    assert len(found) == count
    assert all(row.holds for row in found if not row.missing)


def test_the_second_card_counts_what_two_ranks_hold() -> None:
    """Each norm, and the biases behind the two cut sums of a layer, are on both ranks."""
    hidden, layers = NEOX_20B.hidden, NEOX_20B.layers
    twice = layers * (2 * 2 * hidden + 2 * hidden) + 2 * hidden
    assert neox_parameters(2) - neox_parameters(1) == twice == 266 * hidden


def test_what_is_outside_names_what_breaks() -> None:
    outside = {row.what: row.breaks for row in MINE if row.holds is False}
    assert outside == {
        "MPT 3b, 16,384 tokens": "attention",
        "MPT 3b, 65,536 tokens, layers run again": "attention",
        "MPT 1b, 8,192 tokens": "attention",
        "MPT 1b, 32,768 tokens": "attention",
        "MPT 70b on 64 H100": "batch",
        "MPT 3b, 512 tokens": "share",
        "MPT 3b, 32,768 tokens": "share",
        # The book cuts 56.37 off after a digit, and adds it up.
        "feed-forward": "",
        "all of LLaMA 3 70B": "",
    }


def test_bounds_hold_and_the_service_is_far_below_its_roof() -> None:
    bounds = {row.what: row for row in MINE if row.kind in (Kind.floor, Kind.ceiling)}
    assert all(row.holds for row in bounds.values())
    prefill = bounds["prefill of a node"]
    assert prefill.breaks == "communication" and prefill.published < 0.2 * prefill.mine


def test_the_lesson_asks_for_eight_forecasts() -> None:
    assert len(forecasts(LESSON)) == 8
