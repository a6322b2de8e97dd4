"""The published collectives: which end points are given, and which rows are open on purpose."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.collectives.claims import collectives as models

LESSON = "21_collectives"
CURVE = "The fastest plan for each size, one node"


def test_five_points_between_two_are_within_a_tenth() -> None:
    between = [row for row in rows(LESSON, CURVE) if row.arguments["mib"] > 25]
    assert len(between) == 5
    off = [abs(row.mine / row.published - 1) for row in between]
    assert max(off) < 0.07 and sorted(off)[3] < 0.015


def test_a_quarter_of_what_is_forecast_must_fail_and_names_why() -> None:
    asked = forecasts(LESSON)
    broken = [row for row in asked if row.breaks]
    assert len(asked) >= 6 and 4 * len(broken) >= len(asked)
    found = {row.breaks for row in broken}
    assert found == {"facility", "latency", "protocol", "saturation", "topology"}


def test_every_number_has_a_verdict_and_what_is_worked_out_holds_but_for_three() -> None:
    found = rows(LESSON)
    assert not [row.what for row in found if row.holds is None]
    scaled = [row for row in found if row.kind is Kind.scaled]
    assert len(scaled) >= 30 and {row.holds for row in scaled} == {False, True}
    worked_out = [row for row in found if row.kind in (Kind.formula, Kind.again)]
    outside = [row.what for row in worked_out if not row.holds]
    assert outside == ["10,000 ports, three levels", "energy of a year", "power of the computers"]


def test_between_the_two_ends_the_curve_leaves_the_line_only_where_the_protocol_changes() -> None:
    curves = [row for row in rows(LESSON) if row.place.startswith("The fastest plan")]
    between = [row for row in curves if row.arguments["mib"] > 25]
    assert len(between) == 15
    (outside,) = (row for row in between if not row.holds)
    assert (outside.what, outside.breaks) == ("512 MiB", "protocol")


@pytest.mark.parametrize("given", [(273.0, 471.0), (119.0, 357.0)])
def test_the_line_goes_through_its_ends_whatever_the_ranks(given: tuple[float, float]) -> None:
    assert models.bus_gb_per_s_between(25, *given) == pytest.approx(given[0])
    assert models.bus_gb_per_s_between(4096, *given) == pytest.approx(given[1])


def test_the_end_points_of_the_other_lines_come_back() -> None:
    assert models.us_between(64, 100, 522) == pytest.approx(522)
    assert models.bus_gb_per_s_of_nodes(2, 361.7, 32.9) == pytest.approx(361.7)
    assert models.ring_of_two_latencies_us(1, 50, 100) == pytest.approx(50)
