"""Pictures of sequences on ranks: who computes, who waits, and the words for both."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.context_parallel.pictures import (
    draw_curves,
    draw_lengths,
    draw_rounds,
    draw_triangle,
)
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

TRIANGLES: dict[str, tuple[list[int], list[float], float]] = {
    "of 2 ranks": ([0, 0, 1, 1], [0.5, 1.5], 2 / 3),
    "of 8 ranks in zigzag": ([*range(8), *range(7, -1, -1)], [1.0] * 8, 1.0),
}
WORK = [[0.5, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 1.0]]
HOLDS = [[0, 2, 1], [1, 0, 2], [2, 1, 0]]
CURVES: dict[str, Any] = {
    "curves": {"ring": [(2.0, 64.0), (16.0, 128.0)], "Ulysses": [(2.0, 128.0), (16.0, 32.0)]},
    "heading": "Sent by a rank",
    "second": "one layer",
    "labels": ("ranks", "bytes"),
    "formats": (lambda value: f"{value:g}", lambda value: f"{value:g} B"),
    "level": (64.0, "a limit"),
}
BINS = [("< 512", 0.75, 0.125), ("more", 0.25, 0.875)]


@draws(draw_triangle, *TRIANGLES)
def a_triangle(name: str) -> Figure:
    return draw_triangle(*TRIANGLES[name], name="plain")


@draws(draw_rounds)
def a_ring() -> Figure:
    return draw_rounds(WORK, HOLDS, "a ring")


@draws(draw_curves)
def two_curves() -> Figure:
    return draw_curves(**CURVES)


@draws(draw_lengths)
def lengths() -> Figure:
    return draw_lengths(BINS, "Lengths", "3 files")


@pytest.mark.parametrize("name", TRIANGLES)
def test_a_triangle_has_a_row_for_each_piece_as_long_as_what_it_sees(name: str) -> None:
    owners, work, share = TRIANGLES[name]
    figure = draw_triangle(owners, work, share, "plain")
    assert_readable(figure)
    rows = [r for r in figure.axes[0].findobj(Rectangle) if r.get_edgecolor()[:3] == (1, 1, 1)]
    rows = sorted((r for r in rows if r.get_width() > 0), key=lambda r: r.get_y())[-len(owners) :]
    first = rows[0].get_width()
    assert [round(r.get_width() / first) for r in rows] == list(range(1, len(owners) + 1))
    for rank in range(len(work)):
        assert f"Rank {rank}: {work[rank]:.2f} of the mean." in alt_text(figure)


def test_rounds_are_as_wide_as_their_slowest_rank_and_waiting_is_hatched() -> None:
    figure = draw_rounds(WORK, HOLDS, "a ring")
    assert_readable(figure)
    waits = [r for r in figure.axes[0].findobj(Rectangle) if r.get_hatch() == p.CONFLICT_HATCH]
    # Three times a round of waiting, and one in the legend.
    assert len(waits) == 4
    said = alt_text(figure)
    assert "60.0 % of the time is work" in said
    assert "Rank 0: 0.50 of 0.50 with the keys of 0, waits 1.00 with those of 2" in said


def test_nine_ranks_are_too_many() -> None:
    with pytest.raises(CourseError, match="9 ranks"):
        draw_triangle([*range(9)], [1.0] * 9, 1.0, "plain")
    with pytest.raises(CourseError, match="9 ranks"):
        draw_rounds([[1.0]] * 9, [[0]] * 9, "a ring")


def test_curves_and_bars_say_their_ends() -> None:
    figure = draw_curves(**CURVES)
    assert_readable(figure)
    assert "Ulysses: 128 B at 2, 32 B at 16." in alt_text(figure)
    assert "Marked: a limit, 64 B." in alt_text(figure)
    bars = draw_lengths(BINS, "Lengths", "3 files")
    assert_readable(bars)
    assert "< 512 tokens: 75 % of the documents, 12 % of the tokens." in alt_text(bars)
    assert {"< 512", "more"} <= {text.get_text() for text in texts(bars)}
