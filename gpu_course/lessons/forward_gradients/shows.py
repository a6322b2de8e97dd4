"""What lesson 19 shows: estimates around a gradient, and ledgers on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_course.draw.training.memory_ledger import Ledger
from gpu_course.lessons.forward_gradients.pictures import draw_estimates, draw_ledgers
from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture


def show_ledgers(ledgers: Mapping[str, Ledger]) -> None:
    """Shows the bytes of several runs over time, all to the same scale.

    Args:
        ledgers: {run: ledger of `measure.ledger.keep_ledger`}.
    """
    show(Picture(draw_ledgers(ledgers)))


def show_estimates(gradient: tuple[float, float], estimates: Sequence[tuple[float, float]]) -> None:
    """Shows estimates of a gradient in two dimensions, their mean, and the circle of Thales.

    Args:
        gradient, estimates: as pairs of numbers.
    """
    show(Picture(draw_estimates(gradient, estimates)))
