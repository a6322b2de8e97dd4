"""The picture of lesson 00: cards beside each other, with bars as long as what they stand for."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.hardware.datasheet import device, devices
from gpu_course.lessons.start_here.pictures import draw_cards
from tests.gpu_course.draw.examples import draws


@draws(draw_cards)
def some() -> Figure:
    return draw_cards([device(name) for name in ("T4", "RTX 4090", "A100", "H100", "B200")])


@draws(draw_cards)
def every() -> Figure:
    return draw_cards(devices())


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    cards = [device("T4"), device("B200")]
    figure = draw_cards(cards)
    found = [bar for bar in figure.findobj(Rectangle) if bar.axes]
    bars = [bar.get_width() for bar in found if bar.get_width() > 0]
    rates = [card.bandwidth_bytes_per_s for card in cards]
    assert any(
        np.isclose(one / other, rates[0] / rates[1]) for one in bars for other in bars if other
    )
