"""Pictures of lesson 33: loss over bytes, rounds over a link, smaller models, lengths of files."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.across_oceans import lengths, pictures, shows
from gpu_course.lessons.across_oceans.links import Islands
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable

RUNS = {
    "every step": [(0, 3.2), (4e6, 1.7), (3.1e7, 0.39)],
    "yours, h = 8": [(0, 3.2), (1e6, 1.3), (3.9e6, 0.48)],
    "yours, h = 128": [(0, 3.2), (1.2e5, 1.3), (2.4e5, 9.9)],
}
SLOW, FAST = Islands(10, 4, 22.8, 1, 0.1875), Islands(10, 1, 22.8, 100, 12.5, 14)


@draws(pictures.draw_loss_over_bytes)
def losses() -> Figure:
    return pictures.draw_loss_over_bytes(RUNS, 3.14)


@draws(pictures.draw_rounds, SLOW, FAST, Islands(405, 4, 60, 500, 0.0125, 14))
def rounds(islands: Islands) -> Figure:
    return pictures.draw_rounds(islands)


@draws(pictures.draw_stretch, (0.7, 0.9), (1.0, 0.0), (1.0, 0.95))
def stretch(outer: tuple[float, float]) -> Figure:
    return pictures.draw_stretch(shows.outer_ways(*outer, rounds=30), *outer)


@draws(pictures.draw_overheads, (0.32, 0.28), (0.336, 0.283), (0.3, 0.3), (0.36, 0.26))
def overheads(exponents: tuple[float, float]) -> Figure:
    cells = [cell for cell in shows.PRINTED_CELLS if cell.what == "overhead"]
    return pictures.draw_overheads(cells, *exponents)


@draws(pictures.draw_lengths, 1024, 8192, 131072)
def files(window: int) -> Figure:
    return pictures.draw_lengths(lengths.counted(), window, 3.0)


def test_the_lengths_are_told_bar_by_bar() -> None:
    said = alt_text(pictures.draw_lengths([lengths.Bin(8, 3, 30), lengths.Bin(64, 1, 90)], 16, 3.0))
    assert "3 tokens on average: 75.0% of the files, 25.0% of the tokens." in said
    assert "30 tokens on average: 25.0% of the files, 75.0% of the tokens." in said


@pytest.mark.parametrize("per_token", [1.0, 5.0])
def test_lengths_can_be_read_whatever_a_token_is(per_token: float) -> None:
    assert_readable(pictures.draw_lengths(lengths.counted(), 2048, per_token))


def test_a_run_is_told_with_its_loss_and_bytes() -> None:
    said = alt_text(losses())
    assert "every step: loss 0.39 after 31 MB." in said
    assert "yours, h = 128: loss 9.90 after 0.24 MB." in said


def test_waiting_is_hatched_and_as_wide_as_its_share() -> None:
    figure = rounds(SLOW)
    bars = [r for r in figure.findobj(Rectangle) if r.get_height() == pytest.approx(0.5)]
    waits = [r.get_width() for r in bars if r.get_hatch() == p.CONFLICT_HATCH]
    computes = [r.get_width() for r in bars if r.get_hatch() is None]
    assert len(waits) == len(computes) == 3
    share = computes[0] / (computes[0] + waits[0])
    assert share == pytest.approx(SLOW.utilisation, rel=1e-6)
    assert alt_text(figure).startswith(
        "9.7% of the time computes. 2 islands compute 23 s in 1 step"
    )


def test_a_curve_says_what_it_gives_where_something_is_printed() -> None:
    assert "At 0.25 of the size it is 174.1 %, printed 188 %." in alt_text(overheads((0.32, 0.28)))
