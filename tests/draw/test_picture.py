"""A figure as PNG: what another encoder and another decoder make of it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from gpu_course.draw import draw_launch_grid, draw_touches
from gpu_course.draw.palette import CSS_PIXELS_PER_INCH, style
from gpu_course.draw.picture import QUICK, SHARP, figure_png
from tests.draw import launches

FIGURES = {name: draw_touches(report) for name, report in launches.EVERY.items()}
FIGURES["launch grid"] = draw_launch_grid(2, 4, 7)


def decoded(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        image.verify()
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize("sharpness", [1.0, QUICK, SHARP])
@pytest.mark.parametrize("name", FIGURES)
def test_every_pixel_is_matplotlib_s(name: str, sharpness: float) -> None:
    figure = FIGURES[name]
    reference = io.BytesIO()
    with style():
        figure.savefig(reference, format="png", dpi=CSS_PIXELS_PER_INCH * sharpness)
    ours = figure_png(figure, sharpness)
    np.testing.assert_array_equal(decoded(ours), decoded(reference.getvalue()))
    assert len(ours) < len(reference.getvalue()) * 1.5


def test_a_figure_of_someone_else_s_is_drawn_too() -> None:
    figure = Figure(figsize=(1.237, 0.771))
    figure.add_axes((0, 0, 1, 1)).plot([1, 2], [2, 1])
    height, width, _ = decoded(figure_png(figure, SHARP)).shape
    assert (width, height) == (int(1.237 * 192), int(0.771 * 192))
