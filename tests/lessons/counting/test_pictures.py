"""Areas that have the shares they stand for, and pictures that can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.counting.configs import GPT2_124M, LITGPT
from gpu_course.lessons.counting.pictures import (
    Curve,
    Point,
    areas,
    draw_areas,
    draw_ratio,
    draw_utilisation,
)
from gpu_course.lessons.counting.shows import (
    SEQUENCES,
    areas_of,
    flop_shown,
    over_six_n,
    parts_shown,
    picked,
    utilisation_of,
)
from gpu_course.notebook.note import Note
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

MIXTRAL = LITGPT["Mixtral 8x7B"]


@draws(draw_areas)
def areas_of_mixtral() -> Figure:
    return draw_areas("Mixtral 8x7B", parts_shown(MIXTRAL), flop_shown(MIXTRAL, 4096))


@draws(draw_ratio)
def ratios_of_two() -> Figure:
    shapes = {"GPT-2 124M": GPT2_124M, "Llama 3 70B": LITGPT["Llama 3 70B"]}
    return draw_ratio(
        [
            Curve(name, SEQUENCES, tuple(over_six_n(shape, n) for n in SEQUENCES))
            for name, shape in shapes.items()
        ]
    )


@draws(draw_utilisation)
def utilisation_of_mpt() -> Figure:
    points = [Point(run.sequence, run.mfu(), run.hfu()) for run in picked("3b")]
    return draw_utilisation("MPT 3b on 8 H100", points)


@pytest.mark.parametrize("name", LITGPT)
@pytest.mark.parametrize("sequence", [1, 131_072])
def test_areas_of_any_model_can_be_read(name: str, sequence: int) -> None:
    shape = LITGPT[name]
    figure = draw_areas(name, parts_shown(shape), flop_shown(shape, sequence))
    assert_readable(figure)
    assert f"{shape.parameters:,} parameters" in alt_text(figure)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=7))
def test_areas_fill_the_box_each_with_its_share_and_none_upon_another(sizes: list[float]) -> None:
    named = {str(number): size for number, size in enumerate(sizes)}
    boxes = areas(named, (1.0, 2.0, 3.0, 4.0))
    for name, (x, y, width, height) in boxes.items():
        assert width * height == pytest.approx(12 * named[name] / sum(sizes))
        assert x + 1e-9 >= 1 and x + width <= 4 + 1e-9
        assert y + 1e-9 >= 2 and y + height <= 6 + 1e-9
    placed = list(boxes.values())
    for number, (x, y, width, height) in enumerate(placed):
        for left, top, wide, high in placed[:number]:
            across = min(x + width, left + wide) - max(x, left)
            down = min(y + height, top + high) - max(y, top)
            assert across < 1e-9 or down < 1e-9


def test_the_areas_add_up_to_the_model() -> None:
    for shape in LITGPT.values():
        assert sum(parts_shown(shape).values()) == shape.parameters
        assert sum(flop_shown(shape, 99).values()) == sum(shape.forward_flop(99).values())


def test_what_does_not_fit_is_told_in_a_sentence() -> None:
    for odd in ({"heads": 5}, {"kv_heads": 7}, {"layers": 0}, {"experts": 1, "top_k": 2}):
        note = areas_of("mine", {"layers": 2, "hidden": 12, "heads": 4, **odd}, 8)
        assert isinstance(note, Note) and "try:" in repr(note)


def test_a_run_without_recomputation_has_one_mark_and_others_two() -> None:
    figure = draw_utilisation("a", [Point(1024, 0.4, 0.4), Point(2048, 0.3, 0.4)])
    again, model = (line for line in figure.axes[0].lines if line.get_marker() in ("D", "o"))
    assert list(again.get_xdata()) == [1] and list(model.get_ydata()) == [40.0, 30.0]
    assert "MFU 30.0%, HFU 40.0%" in repr(alt_text(figure))
    assert "MPT 7b on 8 H100" in repr(utilisation_of("7b"))


def test_a_picture_says_what_is_in_it() -> None:
    words = " ".join(text.get_text() for text in texts(areas_of_mixtral()))
    assert "46.7 billion parameters" in words and "27.64 GFLOP for each token" in words
