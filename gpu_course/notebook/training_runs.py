"""What lessons 19 and 20 show of training runs, each picture with its alt text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture

if TYPE_CHECKING:
    from gpu_course.draw.training.memory_ledger import Ledger


def show_losses(
    losses: Mapping[str, Sequence[float]],
    every: int,
    goal: float | None = None,
    floor: float | None = None,
) -> None:
    """Shows the losses of several runs over their steps.

    Args:
        losses: {run: loss before training and after each `every` steps}.
        every: steps between two losses.
        goal, floor: what was to be reached, and what no model can go below.
    """
    from gpu_course.draw.training.training_runs import draw_losses

    show(Picture(draw_losses(losses, every, goal, floor)))


def show_held(
    runs: Mapping[str, Mapping[str, float]], notes: Mapping[str, str] | None = None
) -> None:
    """Shows the bytes that several runs hold, by kind.

    Args:
        runs: {run: {kind: bytes}}.
        notes: {run: a few words behind its bar}.
    """
    from gpu_course.draw.training.training_runs import draw_held

    show(Picture(draw_held(runs, notes)))


def show_ledgers(ledgers: Mapping[str, Ledger]) -> None:
    """Shows the bytes of several runs over time, all to the same scale.

    Args:
        ledgers: {run: ledger of `training.memory.ledger.keep_ledger`}.
    """
    from gpu_course.draw.training.ledgers_beside import draw_ledgers

    show(Picture(draw_ledgers(ledgers)))


def show_estimates(gradient: tuple[float, float], estimates: Sequence[tuple[float, float]]) -> None:
    """Shows estimates of a gradient in two dimensions, their mean, and the circle of Thales.

    Args:
        gradient, estimates: as pairs of numbers.
    """
    from gpu_course.draw.training.estimates import draw_estimates

    show(Picture(draw_estimates(gradient, estimates)))
