"""Examples of the picture of lesson 00."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.hardware.datasheet import device, devices
from gpu_course.lessons.start_here.pictures import draw_cards
from tests.gpu_course.draw.examples import draws


@draws(draw_cards)
def some() -> Figure:
    return draw_cards([device(name) for name in ("T4", "RTX 4090", "A100", "H100", "B200")])


@draws(draw_cards)
def every_card() -> Figure:
    return draw_cards(devices())
