"""Examples of the pictures of lesson 14, and what they show."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.decoding import pictures, shows
from gpu_course.lessons.decoding.costs import Cache
from gpu_course.lessons.decoding.pictures import (
    Pool,
    Served,
    TokenRun,
    draw_batches,
    draw_launches,
    draw_pool,
    draw_served,
    draw_sharing,
)
from gpu_course.units import format_bytes
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

A, B, NONE = 0, 1, -1
POOL = Pool(
    ((A, A, A, A), (B, B, NONE, NONE), (NONE,) * 4, (A, NONE, NONE, NONE)),
    ((0, 3), (1,)),
    "as somebody left it",
)
RUNS = [
    TokenRun(
        text,
        [("rms", 2_000), ("matvec", 400_000), ("rope", 900), ("append", 700)] * 2
        + [("top_k", 1_000)],
    )
    for text in "the\n"
]
SERVED = [
    Served("batch by batch", [[(0, 0, 9), (2, 9, 3)], [(1, 0, 2), (3, 9, 1)]], 12, 15),
    Served("in flight", [[(0, 0, 9)], [(1, 0, 2), (2, 2, 3), (3, 5, 1)]], 9, 15),
]


@draws(draw_sharing)
def who_shares() -> Figure:
    return shows.who_shares().figure


@draws(draw_pool)
def pages() -> Figure:
    return draw_pool(POOL)


@draws(draw_batches)
def a_batch() -> Figure:
    return shows.batch_under_roofs("H100", batch=64).figure  # type: ignore[union-attr]


@draws(draw_launches)
def launches() -> Figure:
    return draw_launches(RUNS)


@draws(draw_served)
def a_server() -> Figure:
    return draw_served(SERVED)


def rectangles(figure: Figure) -> list[Rectangle]:
    return figure.findobj(Rectangle)


def test_fewer_kv_heads_are_fewer_boxes_and_fewer_bytes() -> None:
    boxes = []
    for kv_heads in (8, 2, 1):
        figure = draw_sharing([("any", Cache(2, 8, kv_heads, 16))])
        boxes.append(sum(text.get_text() == "K" for text in texts(figure)))
        assert f"share {kv_heads} KV head" in alt_text(figure)
        assert f"{format_bytes(2 * 2 * kv_heads * 16 * 2)} kept" in alt_text(figure)
    assert boxes == [8, 2, 1]


def test_a_pool_shows_every_slot_once_and_its_holes_hatched() -> None:
    figure = draw_pool(POOL)
    slots = [each for each in rectangles(figure) if abs(each.get_height() - 0.22) < 1e-9]
    assert len(slots) == 16
    assert sum(each.get_hatch() == p.UNWRITTEN_HATCH for each in slots) == POOL.holes == 5
    assert "A has 5 tokens in pages 0, 3. B has 2 tokens in page 1." in alt_text(figure)
    assert "mistake" not in alt_text(figure)


def test_a_slot_that_was_written_by_mistake_is_marked() -> None:
    wrong = Pool(POOL.written, POOL.tables, POOL.told, frozenset({(1, 3), (2, 0)}))
    figure = draw_pool(wrong)
    marked = [each for each in rectangles(figure) if each.get_hatch() == p.CONFLICT_HATCH]
    assert len(marked) == 2 + 1, "two slots, and one in the legend"
    assert alt_text(figure).endswith("2 slots written by mistake.")
    assert_readable(figure)


@pytest.mark.parametrize(
    ("batch", "context", "kv_heads", "bits", "card"),
    [
        (1, 512, 1, 4, "RTX 4090"),
        (512, 32768, 32, 16, "A100"),
        (300, 32768, 32, 4, "H200"),
        (1, 32768, 32, 16, "RTX 4090"),
    ],
)
def test_a_batch_can_be_read_wherever_it_stands(batch, context, kv_heads, bits, card) -> None:
    shown = shows.batch_under_roofs(card, batch, context, kv_heads, bits)
    assert_readable(shown.figure)  # type: ignore[union-attr]


def test_a_batch_is_never_above_a_roof() -> None:
    figure = shows.batch_under_roofs("H100", batch=64).figure  # type: ignore[union-attr]
    named = {line.get_label(): line for line in figure.axes[0].lines}
    curve = named["tokens/s of all sequences"]
    slope = named["weights alone, read once a step"].get_ydata()[0]
    for size, rate in zip(curve.get_xdata(), curve.get_ydata(), strict=True):
        assert rate <= slope * size * (1 + 1e-9)
        assert rate <= named["caches alone"].get_ydata()[0]
        assert rate <= named["arithmetic alone"].get_ydata()[0]


def test_every_launch_is_a_cell_and_its_bytes_a_width() -> None:
    figure = draw_launches(RUNS[:1])
    cells = [each for each in rectangles(figure) if abs(each.get_height() - 0.22) < 1e-9]
    widths = [each.get_width() for each in rectangles(figure) if each.get_height() == 0.18]
    assert len(cells) == 9
    moved = [amount for _, amount in RUNS[0].launches]
    for wide, amount in zip(widths[: len(moved)], moved, strict=True):
        assert wide / sum(widths[: len(moved)]) == pytest.approx(amount / sum(moved))
    assert "'t': 9 launches" in alt_text(figure) and "by matvec" in alt_text(figure)
    assert "'\\n'" in alt_text(draw_launches(RUNS))


def test_launches_that_move_nothing_are_drawn_all_the_same() -> None:
    figure = draw_launches([TokenRun("a", [("rms", 0), ("matvec", 0)])])
    assert_readable(figure)
    assert "'a': 2 launches" in alt_text(figure)


def test_a_server_that_gives_slots_away_is_done_sooner() -> None:
    assert [round(way.idle, 3) for way in SERVED] == [0.375, 0.167]
    figure = draw_served(SERVED)
    assert "38% of the places empty" in alt_text(figure)
    assert {"0", "2"} <= {text.get_text() for text in texts(figure)}
    assert pictures.describe_served([]) == "Who has a slot. ."


def test_a_letter_that_cannot_be_seen_has_a_sign() -> None:
    runs = [pictures.TokenRun(text, [("rope", 8), ("top_k", 8)]) for text in (" ", "\n", "'", "a")]
    (axes,) = pictures.draw_launches(runs).axes
    assert [t.get_text() for t in axes.texts if t.get_fontweight() == "bold"][-4:] == [
        "\N{OPEN BOX}",
        "\\n",
        "'",
        "a",
    ]
