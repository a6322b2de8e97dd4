"""Pictures of layers that are cut: every rank has its stripe, and bars end where bytes do."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.tensor_parallel.pictures import (
    draw_cut,
    draw_heads,
    draw_kept,
    draw_rates,
    heads_of_ranks,
)
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

KEPT = {
    "one rank": (2.8e9, 0.0),
    "layers cut": (2.5e8, 3.2e8),
    "tokens shared out, too": (0.0, 3.4e8),
    "and scores made again": (0.0, 1.1e8),
}
RATES = {
    "ZeRO-3": [(64.0, 153.0), (512.0, 120.0), (4096.0, 16.0)],
    "3D parallelism": [(64.0, 153.0), (4096.0, 153.0)],
}
PUBLISHED = {"ZeRO-3": [(384.0, 144.0), (768.0, 88.0)]}


@draws(draw_rates)
def rates() -> Figure:
    return draw_rates(RATES, PUBLISHED, "Weights, or activations", "25 GB/s", "TFLOP/s")


@draws(draw_cut)
def a_cut() -> Figure:
    return draw_cut(8, 2**28, 2**24)


@draws(draw_heads, (8, 8, 8), (3, 8, 4), (1, 4, 1))
def heads(given: tuple[int, int, int]) -> Figure:
    return draw_heads(*given)


@draws(draw_kept)
def kept() -> Figure:
    return draw_kept(KEPT, "One layer")


@pytest.mark.parametrize("ranks", range(1, 9))
def test_every_rank_has_a_stripe_of_both_matrices(ranks: int) -> None:
    figure = draw_cut(ranks, 2**28, 2**24)
    assert_readable(figure)
    for rank in range(ranks):
        own = [
            each for each in figure.findobj(Rectangle)
            if each.get_facecolor()[:3] == tuple(_rgb(p.BLOCK_COLOURS[rank]))
        ]  # fmt: skip
        assert len(own) == 2
        wide, high = (own[k].get_width() * own[k].get_height() for k in (0, 1))
        assert wide == pytest.approx(high)
        assert sum(text.get_text() == str(rank) for text in texts(figure)) == 2
    assert f"{256 // ranks if ranks in (1, 2, 4, 8) else ''}" in alt_text(figure)


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def test_sums_are_those_of_an_all_reduce() -> None:
    said = alt_text(draw_cut(4, 2**28, 2**24))
    assert "forward: f hands x on; g sums, and each rank sends 24 MiB." in said
    assert "nothing to sum" in alt_text(draw_cut(1, 2**28, 2**24))
    with pytest.raises(CourseError, match="9 ranks"):
        draw_cut(9, 2**28, 2**24)


@pytest.mark.parametrize(
    ("ranks", "of_queries", "groups"), [(2, 8, 4), (3, 8, 4), (3, 4, 4), (5, 7, 7), (2, 8, 2)]
)
def test_every_head_lies_where_tensor_split_puts_it(
    ranks: int, of_queries: int, groups: int
) -> None:
    import torch

    figure = draw_heads(ranks, of_queries, groups)
    assert_readable(figure)
    said = alt_text(figure).splitlines()
    each = of_queries // groups
    parts = torch.arange(groups).tensor_split(ranks)
    owned = zip(parts, heads_of_ranks(ranks, of_queries, groups), strict=True)
    for rank, (part, (queries, keys)) in enumerate(owned):
        assert list(keys) == part.tolist()
        assert list(queries) == [key * each + k for key in part.tolist() for k in range(each)]
        drawn = [
            rectangle for rectangle in figure.findobj(Rectangle)
            if rectangle.get_facecolor()[:3] == tuple(_rgb(p.BLOCK_COLOURS[rank]))
        ]  # fmt: skip
        # Columns of W_q and rows of W_o; columns of W_k and of W_v.
        assert len(drawn) == 2 * len(queries) + 2 * len(keys)
        assert said[1 + rank].startswith(f"rank {rank}: columns of head")
    assert "nothing is sent" in said[-1]


def test_heads_that_cannot_be_drawn_are_refused() -> None:
    for given in ((3, 8, 2), (2, 16, 4), (2, 8, 3), (0, 8, 4)):
        with pytest.raises(CourseError, match=f"{given[0]} ranks, {given[1]} heads"):
            draw_heads(*given)


def test_bars_are_as_long_as_their_bytes() -> None:
    figure = draw_kept(KEPT, "One layer")
    assert_readable(figure)
    bars = [each for each in figure.findobj(Rectangle) if each.get_height() == pytest.approx(0.3)]
    sizes = [size for both in KEPT.values() for size in both if size]
    assert [bar.get_width() / bars[0].get_width() for bar in bars] == pytest.approx(
        [size / sizes[0] for size in sizes]
    )
    assert "layers cut: 238.4 MiB the same on every rank, 305.2 MiB shared out." in alt_text(figure)


def test_rates_show_the_published_points() -> None:
    figure = rates()
    assert_readable(figure)
    points = [line for line in figure.axes[0].lines if line.get_linestyle() == "None"]
    assert [list(map(float, line.get_ydata())) for line in points] == [[144.0, 88.0]]
    assert "Published: 88 on 768." in alt_text(figure)
