"""What lesson 15 shows: numbers in a format, gradients over its range, a training that stalls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.lessons.number_formats.formats import FORMATS, find
from gpu_course.lessons.number_formats.pictures import draw_gradients, draw_losses, draw_number
from gpu_course.notebook.pictures import showing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def number_in(x: float, name: str) -> Figure:
    """Returns a picture of a number in a format.

    Args:
        x: finite.
        name: of a format, such as "bf16".
    """
    return draw_number(x, find(name))


def gradients_in(gradients: np.ndarray, scale: float, name: str) -> Figure:
    """Returns a histogram of scaled gradients over the range of a format."""
    return draw_gradients(gradients, scale, find(name))


@showing
def show_losses(losses: Mapping[str, np.ndarray]) -> Figure:
    """Shows the losses of `stalled_training`."""
    return draw_losses(losses)


def formats_text() -> str:
    """Returns a table of the formats: bits, range and the distance of neighbours at 1."""
    head = f"{'format':<10}{'bits':>5}{'exponent':>10}{'mantissa':>10}{'largest':>10}"
    lines = [f"{head}{'smallest':>10}{'step at 1':>12}"]
    for form in FORMATS.values():
        line = f"{form.name:<10}{form.bits:>5}{form.exponent_bits:>10}{form.mantissa_bits:>10}"
        lines.append(f"{line}{form.largest:>10.3g}{form.smallest:>10.1e}{form.epsilon:>12.3g}")
    return "\n".join(lines)
