"""A picture of training runs side by side: their losses over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by dashes and marks as well as by colour.
_LINES: tuple[dict[str, Any], ...] = (
    {"color": p.ACTIVE, "linestyle": "solid", "marker": "o"},
    {"color": p.CONFLICT, "linestyle": (0, (5, 2)), "marker": "s"},
    {"color": p.FINE, "linestyle": (0, (1, 1.2)), "marker": "^"},
    {"color": p.CONTRAST, "linestyle": (0, (6, 2, 1, 2)), "marker": "D"},
    {"color": p.WRITE, "linestyle": "solid", "marker": "v"},
    {"color": p.INK, "linestyle": (0, (3, 3)), "marker": "x"},
)


def draw_losses(
    losses: Mapping[str, Sequence[float]],
    every: int,
    goal: float | None = None,
    floor: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Returns one line per run: its loss over the steps.

    Args:
        losses: {run: loss before training and after each `every` steps}.
        every: steps between two losses.
        goal: what was to be reached; default none.
        floor: what no model can go below; default none.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.65, (0.75, 0.55, 2.3, 0.4))
        # A run that flies off would leave the others no height.
        ceiling = 1.15 * max(series[0] for series in losses.values())
        for number, (name, series) in enumerate(losses.items()):
            axes.plot(
                [every * place for place in range(len(series))],
                [min(loss, 2 * ceiling) for loss in series],
                label=name,
                markersize=4.5,
                lw=1.6,
                **_LINES[number % len(_LINES)],
            )
        last = every * (max(len(series) for series in losses.values()) - 1)
        for words, level, look in (("goal", goal, p.READ_DASHES), ("floor", floor, "solid")):
            if level is not None:
                axes.axhline(level, color=p.QUIET, lw=0.9, linestyle=look)
                place = (last, level)
                axes.annotate(
                    f"{words} {level:.2f}",
                    place,
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=p.SMALL,
                    color=p.QUIET,
                    annotation_clip=False,
                )
        lowest = min(min(series) for series in losses.values())
        low = min(lowest, *(level for level in (goal, floor) if level is not None), lowest)
        axes.set_ylim(low - 0.05 * (ceiling - low), ceiling)
        axes.set_xlim(0, last)
        p.headline(axes, "Loss over the updates: lower is better")
        axes.set_xlabel("updates")
        axes.set_ylabel("loss")
        figure.legend(loc="center right", frameon=False, fontsize=p.SMALL, handlelength=3)
    return with_alt(figure, describe_losses(losses, goal, floor))


def describe_losses(
    losses: Mapping[str, Sequence[float]], goal: float | None = None, floor: float | None = None
) -> str:
    """Returns in words what `draw_losses` shows."""
    said = [f"{name}: {_course(series)}." for name, series in losses.items()]
    if goal is not None:
        said.append(f"The goal is {goal:.2f}.")
    if floor is not None:
        said.append(f"No model can go below {floor:.2f}.")
    return "Loss over the updates. " + " ".join(said)


def _course(series: Sequence[float]) -> str:
    """The way of a loss: both ends, the middle, and the greatest rise where there is one."""
    first, last = series[0], series[-1]
    said = f"from {first:.2f} to {last:.2f}"
    if len(series) > 4:
        said += f", {series[len(series) // 2]:.2f} half-way"
    low, rise = first, (first, first)
    for loss in series:
        low = min(low, loss)
        if not loss - low <= rise[1] - rise[0]:
            rise = (low, loss)
    if rise != (first, last) and not rise[1] - rise[0] <= 0.1 * abs(first - last):
        said += f"; on the way it rises from {rise[0]:.2f} to {rise[1]:,.2f}"
    return said
