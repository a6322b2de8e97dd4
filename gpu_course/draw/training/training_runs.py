"""Pictures of training runs side by side: their losses over time, and the bytes they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS
from gpu_course.units import format_bytes

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
        figure, axes = _canvas(ax, 3.65, (0.75, 0.55, 2.3, 0.4))
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
        words = "Loss over the updates: lower is better"
        axes.set_title(words, loc="left", fontsize=p.NORMAL, fontweight="bold", color=p.INK)
        axes.set_xlabel("updates")
        axes.set_ylabel("loss")
        figure.legend(loc="center right", frameon=False, fontsize=p.SMALL, handlelength=3)
    return with_alt(figure, describe_losses(losses, goal, floor))


def describe_losses(
    losses: Mapping[str, Sequence[float]], goal: float | None = None, floor: float | None = None
) -> str:
    """Returns in words what `draw_losses` shows."""
    said = [f"{name}: from {series[0]:.2f} to {series[-1]:.2f}." for name, series in losses.items()]
    if goal is not None:
        said.append(f"The goal is {goal:.2f}.")
    if floor is not None:
        said.append(f"No model can go below {floor:.2f}.")
    return "Loss over the updates. " + " ".join(said)


def draw_held(
    runs: Mapping[str, Mapping[str, float]],
    notes: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Returns one stacked bar per run: the bytes it holds, by kind.

    Args:
        runs: {run: {kind: bytes}}, kinds as in a ledger.
        notes: {run: a few words behind its bar}.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = _canvas(ax, 0.42 * len(runs) + 1.55, (2.2, 0.5, 1.6, 0.75))
        highest = max(sum(parts.values()) for parts in runs.values())
        unit, name = (2**20, "MiB") if highest >= 2**20 else (2**10, "KiB")
        kinds = [kind for kind in LOOKS if any(kind in parts for parts in runs.values())]
        left = [0.0] * len(runs)
        for kind in kinds:
            sizes = [parts.get(kind, 0) / unit for parts in runs.values()]
            places = list(range(len(runs)))
            axes.barh(places, sizes, left=left, height=0.62, label=kind, **LOOKS[kind])
            left = [low + size for low, size in zip(left, sizes, strict=True)]
        for place, (run, total) in enumerate(zip(runs, left, strict=True)):
            axes.annotate(
                (notes or {}).get(run, ""),
                (total, place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=p.SMALL,
                color=p.INK,
                annotation_clip=False,
            )
        axes.set_yticks(range(len(runs)), list(runs), fontsize=p.SMALL)
        axes.invert_yaxis()
        axes.set_xlim(0, highest / unit * 1.02)
        axes.set_xlabel(name)
        words = "What each run holds: shorter is less memory"
        axes.set_title(words, loc="left", fontsize=p.NORMAL, fontweight="bold", color=p.INK)
        figure.legend(loc="upper center", ncols=4, frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_held(runs, notes))


def describe_held(
    runs: Mapping[str, Mapping[str, float]], notes: Mapping[str, str] | None = None
) -> str:
    """Returns in words what `draw_held` shows."""
    said = []
    for run, parts in runs.items():
        kinds = ", ".join(f"{kind} {format_bytes(size)}" for kind, size in parts.items())
        note = (notes or {}).get(run, "")
        total = format_bytes(sum(parts.values()))
        said.append(f"{run}: {total}: {kinds}{'; ' + note if note else ''}.")
    return "Bytes held. " + " ".join(said)


def _canvas(
    ax: Axes | None, height: float, margins: tuple[float, float, float, float]
) -> tuple[Figure, Axes]:
    if ax is None:
        return p.blank_figure(p.WIDEST, height, margins)
    return ax.get_figure(root=True), ax  # type: ignore[return-value]
