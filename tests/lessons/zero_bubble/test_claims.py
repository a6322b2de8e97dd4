"""The published pipelines: what simulation gives to the digit, and what a search adds."""

from __future__ import annotations

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.zero_bubble import leaderboard
from gpu_course.measure.pipelines.profiles import PROFILES
from gpu_course.measure.pipelines.rules import faults

LESSON = "27_zero_bubble"


def test_orders_made_by_hand_give_all_printed_digits() -> None:
    found = rows(LESSON, "bubble rates of orders made by hand")
    assert len(found) == 12
    assert all(row.to_the_digit for row in found)


def test_our_search_equals_zb_1p_and_equals_or_beats_zb_2p() -> None:
    found = rows(LESSON, "bubble rates of the paper's search")
    assert len(found) == 12 and all(row.holds for row in found)
    for row in found:
        if row.arguments["order"] == "ZB-1p":
            assert row.to_the_digit, row.what
    beaten = [row.what for row in found if row.mine < row.published - row.rounding]
    assert len(beaten) == 5
    (one,) = (row for row in found if row.what == "1.5B, m=32: ZB-2p")
    assert round(one.mine, 4) == 0.0017


def test_what_a_search_finds_can_run_in_its_memory_and_lies_above_the_bound() -> None:
    for name in ("1.5B, m=24", "6.2B, m=32", "14.6B, m=48"):
        for share in leaderboard.LIMITS.values():
            found = leaderboard.searched(name, share)
            assert not faults(found.schedule)
            assert max(found.run.peaks) <= share * PROFILES[name].ranks + 1e-9
            assert found.run.bubble_rate >= found.bound - 1e-12
            assert found.bound == leaderboard.rate_bound(name, share)


def test_more_kept_for_w_leaves_less_to_put_off() -> None:
    name = "1.5B, m=24"
    profile = PROFILES[name]
    rates = [
        leaderboard.searched(name, 2, kept).run.bubble_rate
        for kept in (profile.kept, profile.kept_without_scores)
    ]
    assert [round(rate, 2) for rate in rates] == [0.04, 0.1]


def test_the_model_is_too_fast_for_every_measured_run_and_by_no_more_than_a_ninth() -> None:
    found = rows(LESSON, "Table 4, throughput")
    off = [row.mine / row.published - 1 for row in found]
    assert len(off) == 8 and min(off) > 0.06 and max(off) < 1 / 9


def test_at_least_four_numbers_are_asked_for_first_and_all_have_a_verdict() -> None:
    assert len(forecasts(LESSON)) >= 4
    found = rows(LESSON)
    assert len(found) >= 50
    assert not [row.what for row in found if row.holds is None]
    assert {row.kind for row in found} >= {Kind.formula, Kind.floor, Kind.scaled, Kind.prediction}


def test_the_interleaved_order_is_known_by_its_formula() -> None:
    assert round(leaderboard.interleaved_rate("1.5B, m=24"), 4) == 0.1055
    assert round(leaderboard.interleaved_rate("14.6B, m=128"), 4) == 0.0445
