"""A figure as PNG: what another encoder and another decoder make of it."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from gpu_course.draw import draw_launch_grid, draw_touches
from gpu_course.draw.paper.palette import CSS_PIXELS_PER_INCH, style
from gpu_course.draw.paper.picture import QUICK, SHARP, figure_png
from tests.gpu_course.draw import launches

FIGURES = (*launches.EVERY, "launch grid")


@cache
def figure_of(name: str) -> Figure:
    if name == "launch grid":
        return draw_launch_grid(2, 4, 7)
    return draw_touches(launches.EVERY[name])


def decoded(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        image.verify()
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def by_matplotlib(figure: Figure, sharpness: float) -> bytes:
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=CSS_PIXELS_PER_INCH * sharpness)
    return buffer.getvalue()


@pytest.mark.parametrize("sharpness", [1.0, QUICK])
@pytest.mark.parametrize("name", FIGURES)
def test_every_pixel_of_a_quick_picture_is_matplotlib_s(name: str, sharpness: float) -> None:
    reference = by_matplotlib(figure_of(name), sharpness)
    ours = figure_png(figure_of(name), sharpness)
    np.testing.assert_array_equal(decoded(ours), decoded(reference))
    assert len(ours) < len(reference) * 1.5


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_to_be_kept_is_small_and_looks_the_same(name: str) -> None:
    reference = by_matplotlib(figure_of(name), SHARP)
    ours = figure_png(figure_of(name), SHARP)
    shades = np.abs(decoded(ours).astype(int) - decoded(reference))
    assert shades.mean() < 0.5  # of 255
    assert (shades > 24).mean() < 0.001
    assert len(ours) < len(reference) * 0.7


def test_a_figure_of_someone_else_s_is_drawn_too() -> None:
    figure = Figure(figsize=(1.237, 0.771))
    figure.add_axes((0, 0, 1, 1)).plot([1, 2], [2, 1])
    height, width, _ = decoded(figure_png(figure, SHARP)).shape
    assert (width, height) == (int(1.237 * 192), int(0.771 * 192))
