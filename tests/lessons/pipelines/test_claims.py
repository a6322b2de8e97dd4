"""The published pipelines: what agrees to the digit, and which rows are open on purpose."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.pipelines.claims import pipelines as models

LESSON = "26_pipelines"


def test_twelve_bubble_rates_agree_to_four_decimals() -> None:
    found = [row for row in rows(LESSON) if row.place.startswith("Bubble rates")]
    assert len(found) == 12 and all(row.to_the_digit for row in found)
    assert {len(row.printed) for row in found} == {len("0.2431")}


def test_eight_memories_of_an_order_are_within_four_percent() -> None:
    found = [row for row in rows(LESSON) if row.place == "Table 4, memory"]
    assert len(found) == 8
    assert max(abs(row.mine / row.published - 1) for row in found) < 0.04


def test_what_is_outside_names_the_assumption_that_fails() -> None:
    outside = {row.what: row for row in rows(LESSON) if row.holds is False}
    slip = outside.pop("1.8B on 8 devices")
    assert "does not go with" in slip.note
    assert all(row.breaks for row in outside.values())
    assert {row.breaks for row in outside.values()} == {"batch", "power", "stages", "version"}
    inside = [row for row in rows(LESSON) if not row.breaks and row is not slip]
    assert all(row.holds for row in inside if row.kind is not Kind.fitted)


def test_every_row_has_a_verdict_and_some_forecasts_must_fail() -> None:
    found, asked = rows(LESSON), forecasts(LESSON)
    # The closed form of the interleaved order was found in the digits that it gives again.
    untested = [row for row in found if row.holds is None]
    assert {row.place for row in untested} == {"Bubble rates, 1F1B interleaved"}
    assert len(found) - len(untested) >= 75
    assert len(asked) >= 6 and 4 * sum(bool(row.breaks) for row in asked) >= len(asked)


def test_a_stated_spread_is_the_source_s_and_two_fifths() -> None:
    spread = [row for row in rows(LESSON) if row.spread]
    assert len(spread) == 7
    for row in spread:
        assert row.kind is Kind.scaled and row.spread.off == pytest.approx(0.4 * row.published)


def test_equal_stages_are_no_faster_than_their_count() -> None:
    assert models.speed_up(8, 10**6, 0) == pytest.approx(8, rel=1e-4)
    assert models.speed_up(1, 7, 0) == 1 and models.speed_up(5, 1, 0) == 1
    assert models.recomputing_speed(1, 10**6) == pytest.approx(3 / 4, rel=1e-4)
