"""The roofline: where kernels stand, and that nothing is drawn as measured that was not."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.roofline.pictures import (
    Kernel,
    Roofs,
    bound,
    draw_roofline,
    draw_under_roof,
)
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts

ROOFS = Roofs("H100, float32", 66.9e12, 3.35e12)
KERNELS = [
    Kernel("zip_add", 1 / 12, 1 / 12),
    Kernel("transpose_padded", 0.0),
    Kernel("matmul_register", 31.5, 80.0),
    Kernel("box_blur_2d", 1.9, 2.2, 0.71),
    Kernel("a_kernel_with_a_long_name", 0.25, 60.0),
]


def marks(figure):
    return [line for line in figure.axes[0].lines if line.get_marker() not in ("None", None, "")]


@draws(draw_roofline)
def a_roof() -> Figure:
    return draw_roofline(ROOFS, KERNELS)


@draws(draw_under_roof)
def under_a_roof() -> Figure:
    return draw_under_roof(ROOFS, KERNELS)


def test_the_roof_has_its_corner_at_the_ridge() -> None:
    figure = draw_roofline(ROOFS, [])
    heights = {tuple(line.get_ydata()) for line in figure.axes[0].lines}
    assert any(66.9e12 in h for h in heights)
    assert "ridge: 20 FLOP/byte" in " ".join(t.get_text() for t in texts(figure))
    assert alt_text(figure) == (
        "The roof of H100, float32: 66.9 TFLOP/s, 3.35 TB/s, ridge at 20 FLOP/byte."
    )


@pytest.mark.parametrize(
    ("kernels", "span", "side"),
    [
        ([], None, "left"),
        ([Kernel("k", 100.0)], (1 / 8, 512), "right"),
        ([], (1 / 8, 32), "right"),
        ([Kernel("k", 100.0), Kernel("l", 10.0)], (1 / 8, 512), "left"),
    ],
)
def test_the_name_of_the_ridge_crosses_no_line_and_not_the_edge(kernels, span, side) -> None:
    figure = draw_roofline(ROOFS, kernels, span)
    (name,) = [each for each in texts(figure) if "ridge" in each.get_text()]
    assert name.get_ha() == side
    if len(kernels) < 2:
        figure.canvas.draw()
        box, (axes,) = name.get_window_extent(), figure.axes
        assert box.x1 <= axes.get_window_extent().x1
        at = [axes.transData.transform((each.intensity, 1e12))[0] for each in kernels]
        assert not any(box.x0 < x < box.x1 for x in at)


def test_a_kernel_stands_where_it_was_counted_and_no_lower_than_its_roof() -> None:
    (mark,) = marks(draw_roofline(ROOFS, [Kernel("k", 2.0)]))
    assert mark.get_xdata() == [2.0]
    np.testing.assert_allclose(mark.get_ydata(), 2 * 3.35e12)
    assert mark.get_markerfacecolor() == p.PAPER, "open: nobody measured it"


def test_a_record_gives_a_height_and_a_filled_mark() -> None:
    (mark,) = marks(draw_roofline(ROOFS, [Kernel("k", 1.0, 2.0, 0.5)]))
    assert mark.get_xdata() == [2.0]
    np.testing.assert_allclose(mark.get_ydata(), 0.5 * 2 * 3.35e12)
    assert mark.get_markerfacecolor() != p.PAPER


def test_a_kernel_that_is_bettered_moves_to_the_right_and_up() -> None:
    before, after = marks(draw_roofline(ROOFS, [Kernel("before", 0.2, 1), Kernel("after", 0.9, 1)]))
    assert after.get_xdata()[0] > before.get_xdata()[0]
    assert after.get_ydata()[0] > before.get_ydata()[0]
    assert after.get_marker() != before.get_marker()


@pytest.mark.parametrize("span", [None, (1 / 8, 512.0), (1 / 2, 4096.0)])
def test_it_can_be_read_in_half_a_window(span) -> None:
    figure = draw_roofline(ROOFS, [KERNELS[0], *KERNELS[2:4]], span)
    assert_readable(figure)


def test_a_second_roof_is_of_measured_rates() -> None:
    figure = draw_roofline(ROOFS, [], (1 / 2, 512.0), reached=Roofs("reached", 50e12, 3.1e12))
    assert_readable(figure)
    assert alt_text(figure).endswith("Reached: 50 TFLOP/s, 3.1 TB/s, ridge at 16.1 FLOP/byte.")
    dashed = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1
    np.testing.assert_allclose(dashed[0].get_ydata(), [1.55e12, 50e12, 50e12])


def test_what_binds_a_kernel_is_told_at_best() -> None:
    assert [bound(ROOFS, k) for k in KERNELS] == [
        "bandwidth", "bandwidth", "compute", "bandwidth", "compute",
    ]  # fmt: skip


def test_the_list_says_of_every_kernel_what_is_known() -> None:
    figure = draw_under_roof(ROOFS, KERNELS)
    assert_readable(figure)
    lines = alt_text(figure).splitlines()
    assert lines[1].startswith("zip_add: 0.083 FLOP/byte, 0.083 at best; roof 279.2 GFLOP/s")
    assert lines[2].endswith("3.35 TB/s at best, bandwidth; no record.")
    assert lines[4].endswith("measured 71% of the roof at best.")
    said = [text.get_text() for text in texts(figure)]
    assert "5 kernels by what was counted; 1 with a record of the solution's time" in said


def test_a_bar_is_filled_only_as_far_as_a_record_reaches() -> None:
    figure = draw_under_roof(ROOFS, KERNELS[3:])
    bars = [b for b in figure.findobj(Rectangle) if b.get_facecolor()[:3] != (1, 1, 1)]
    wide = max(b.get_width() for b in figure.findobj(Rectangle) if 0 < b.get_width() < 2)
    filled = [b for b in bars if np.isclose(b.get_width(), 0.71 * wide)]
    assert len(filled) == 1
    unknown = [b for b in figure.findobj(Rectangle) if b.get_hatch() and b.get_width() == wide]
    assert len(unknown) == 1


def test_a_list_of_none_says_so() -> None:
    assert "no kernel yet" in alt_text(draw_under_roof(ROOFS, []))
