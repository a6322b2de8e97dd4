"""The picture of forecasts: what it says, and that hits and misses differ by more than a colour."""

from __future__ import annotations

import pytest

from gpu_course.claims.pictures import Interval, draw_forecasts, score
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from tests.gpu_course.draw.readable import assert_readable, texts

LESSONS = {
    "Coalescing": [Interval(0.9, 0.5, 1.4), Interval(1.8, 1.2, 3), Interval(1, 0.9, 1.1)],
    "From softmax to FlashAttention": [Interval(0.02, 0, 0.1), Interval(3, 0.5, 40)],
    "The roofline": [Interval(0.94, 0.8, 1.2)],
}
VERDICT = "Where each holds 9 times out of 10, 4 to 6 of 6 hold; 6 are too few to say more."


def test_an_interval_holds_where_it_holds_what_was_measured() -> None:
    assert [i.held for i in LESSONS["Coalescing"]] == [True, False, True]
    assert score([Interval(1, 0.5, 1.5)]) == "1 of 1 held, median width 1 times what was measured"


def test_the_picture_can_be_read_and_says_how_often_each_lesson_held() -> None:
    figure = draw_forecasts(LESSONS, VERDICT)
    assert_readable(figure)
    said = [text.get_text() for text in texts(figure)]
    assert said[:2] == ["4 of your 6 intervals held", VERDICT]
    assert "Coalescing: 2 of 3 held, median width 0.9 times what was measured" in said
    assert alt_text(figure).startswith("Forecasts. Coalescing: 2 of 3 held")
    assert alt_text(figure).endswith(VERDICT)


@pytest.mark.parametrize(
    ("interval", "headline"),
    [(Interval(1, 0.5, 2), "held"), (Interval(2, 1.5, 2), "did not hold")],
)
def test_a_hit_and_a_miss_differ_by_more_than_a_colour(interval, headline) -> None:
    figure = draw_forecasts({"Warps": [interval]}, "")
    assert texts(figure)[0].get_text() == f"Your one interval {headline}"
    # The bars of the legend come after it.
    bar = next(line for line in figure.axes[0].lines if line.get_linewidth() > 3)
    assert (bar.get_color() == p.FINE) == (bar.get_linestyle() == "-") == interval.held


def test_what_runs_past_the_edge_stays_on_the_sheet() -> None:
    figure = draw_forecasts({"Warps": [Interval(0, 0, 0), Interval(1e9, 1, 1e12)]}, "")
    axes = figure.axes[0]
    for line in axes.lines:
        assert all(0 <= x <= p.WIDEST for x in line.get_xdata())
