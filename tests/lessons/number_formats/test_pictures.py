"""The pictures of lesson 15: what they say is what is counted, and all can be read."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.number_formats.formats import BF16, E4M3, E5M2, FORMATS, FP16, Format
from gpu_course.lessons.number_formats.pictures import (
    draw_gradients,
    draw_losses,
    draw_number,
    share_lost,
)
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable

SIZES = np.concatenate([2.0 ** np.arange(-30, 20), -(2.0 ** np.arange(-20, -10)), [0.0]])


@draws(draw_number)
def a_number() -> Figure:
    return draw_number(0.3, E4M3)


@draws(draw_gradients)
def some_gradients() -> Figure:
    return draw_gradients(SIZES, 16.0, FP16)


@draws(draw_losses)
def some_losses() -> Figure:
    steps = np.arange(1.0, 60)
    return draw_losses({"float32": 9 / steps**2, "bf16 alone": 2 + 7 / steps})


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("x", [0.3, -3.0, 0.0, 70_000.0, 1e-9])
def test_a_number_can_be_read_in_every_format(x: float, name: str) -> None:
    assert_readable(draw_number(x, FORMATS[name]))


def test_the_bits_of_a_number_are_told() -> None:
    assert alt_text(draw_number(0.3, E4M3)) == (
        "0.3 in fp8 E4M3 is 0.3125: sign 0, exponent 0101, mantissa 010. "
        "Its neighbours are 0.03125 away."
    )


@pytest.mark.parametrize(
    ("x", "form", "away"),
    [
        (1.0, E4M3, "0.0625 (below) and 0.125 (above)"),
        (-2.0, E4M3, "0.25 (below) and 0.125 (above)"),
        (1.1, E4M3, "0.125"),
        (0.0, FP16, "5.96046e-08"),
        (2.0**-6, E4M3, "0.00195312"),  # the smallest normal number: below it steps stay
    ],
)
def test_a_power_of_two_is_nearer_to_the_neighbour_towards_zero(
    x: float, form: Format, away: str
) -> None:
    assert alt_text(draw_number(x, form)).endswith(f"Its neighbours are {away} away.")


def test_a_band_that_is_too_narrow_for_its_name_has_it_beside() -> None:
    (axes,) = draw_gradients(SIZES, 1.0, E5M2).axes
    (name,) = (text for text in axes.texts if "subnormal" in text.get_text())
    assert name.get_text() == "← subnormal"
    assert name.get_position()[0] > E5M2.least_exponent and name.get_ha() == "left"
    assert_readable(draw_gradients(SIZES, 1.0, E5M2))


@pytest.mark.parametrize("scale", [1.0, 2.0**10, 2.0**40])
def test_gradients_can_be_read_and_are_counted(scale: float) -> None:
    figure = draw_gradients(SIZES, scale, FP16)
    assert_readable(figure)
    alive = SIZES[SIZES != 0] * scale
    with np.errstate(over="ignore"):
        held = np.abs(alive).astype(np.float16)
    assert f"{(held == 0).mean():.1%} become 0" in alt_text(figure)
    assert share_lost(SIZES, scale, FP16) == (held == 0).mean()
    assert share_lost(SIZES, scale, BF16) == 0


def test_losses_can_be_read() -> None:
    figure = some_losses()
    assert_readable(figure)
    assert alt_text(figure) == "The loss after 59 steps: float32 0.0026, bf16 alone 2.1."
