"""Pictures of plans beside each other: the lives of checkpoints, and memory against cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.schedules import LOOKS
from gpu_course.lessons.optimal_checkpointing.lives import Life
from gpu_course.units import byte_unit, format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES: tuple[dict[str, Any], ...] = (
    {"color": p.ACTIVE, "marker": "o", "linestyle": "-"},
    {"color": p.CONFLICT, "marker": "s", "linestyle": "none"},
    {"color": p.FINE, "marker": "^", "linestyle": "none"},
    {"color": p.CONTRAST, "marker": "D", "linestyle": "none"},
    {"color": p.INK, "marker": "*", "linestyle": "none"},
)

HEIGHT = 4.9
_BOTTOM, _BELOW, _BETWEEN, _TOP = 0.5, 1.05, 0.25, 0.8
_CORNERS = ((-0.43, -0.4), (0.43, -0.4), (0.43, 0.4), (-0.43, 0.4))
_LEFT, _GAP, _RIGHT = 0.7, 0.35, 0.1


@dataclass(frozen=True)
class Panel:
    """One schedule as it is drawn.

    Attributes:
        schedule: pairs of a word and a stage.
        rises: the most memory during each operation, in bytes.
        lives: of its checkpoints.
    """

    schedule: Sequence[tuple[str, int]]
    rises: Sequence[int]
    lives: Sequence[Life]


def draw_lives(panels: Mapping[str, Panel], budget: float) -> Figure:
    """Returns schedules side by side: operations and the lives of checkpoints above, memory below.

    Args:
        panels: {title: what is drawn}, two of them.
        budget: the memory there is, in bytes.
    """
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    with p.style():
        figure, first = p.blank_figure(p.WIDEST, HEIGHT)
        first.remove()
        width = (p.WIDEST - _LEFT - _RIGHT - _GAP * (len(panels) - 1)) / len(panels)
        high = max(len(panel.schedule) for panel in panels.values())
        most = max(budget, *(max(panel.rises) for panel in panels.values()))
        unit, name = byte_unit(most)
        for number, (title, panel) in enumerate(panels.items()):
            left = _LEFT + number * (width + _GAP)
            above = _axes(figure, left, _BOTTOM + _BELOW + _BETWEEN, width, HEIGHT - _TOP)
            below = _axes(figure, left, _BOTTOM, width, _BOTTOM + _BELOW)
            _operations(above, panel)
            _memory(below, [rise / unit for rise in panel.rises], budget / unit, most / unit)
            above.set_title(title, fontsize=p.NORMAL, loc="left")
            below.set_xlabel("operation")
            for axes in (above, below):
                axes.set_xlim(-0.8, high - 0.2)
                axes.tick_params(labelleft=not number)
            if not number:
                above.set_ylabel("stage")
                below.set_ylabel(name)
        marks: list[Artist] = [Patch(label=word, **look) for word, look in LOOKS.items()]
        marks += [
            Line2D([], [], color=p.FINE, lw=3, label="the stage's input is kept"),
            Line2D([], [], color=p.CONFLICT, marker="X", ms=9, lw=0, label="dropped"),
            Line2D(
                [], [], mew=2, mfc="none", mec=p.INK, marker="o", ms=10, lw=0, label="made again"
            ),
            Line2D([], [], color=p.INK, lw=1.6, label="the memory available"),
        ]
        figure.legend(
            handles=marks,
            loc="upper center",
            ncols=4,
            frameon=False,
            fontsize=p.SMALL,
            handlelength=1.4,
        )
    return with_alt(figure, describe_lives(panels, budget))


def describe_lives(panels: Mapping[str, Panel], budget: float) -> str:
    """Returns in words what `draw_lives` shows."""
    said = [f"Schedules side by side, in a memory of {format_bytes(budget)}."]
    for title, panel in panels.items():
        passes = sum(word not in ("backward", "drop") for word, _ in panel.schedule)
        words = f"{title}: {passes} forward passes, at most {format_bytes(max(panel.rises))}"
        for life in panel.lives:
            if life.dropped:
                words += f"; the input of stage {life.stage} is dropped by operation {life.ended}"
                words += "" if life.again is None else f" and made again by operation {life.again}"
        said.append(f"{words}.")
    return " ".join(said)


def _operations(axes: Axes, panel: Panel) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.ticker import MaxNLocator

    for life in panel.lives:
        axes.plot([life.born, life.ended], [life.stage - 0.52] * 2, color=p.FINE, lw=3, zorder=1)
    for word, look in LOOKS.items():
        places = [
            (step, stage) for step, (kind, stage) in enumerate(panel.schedule) if kind == word
        ]
        cells = [[(step + x, stage + y) for x, y in _CORNERS] for step, stage in places]
        axes.add_collection(PolyCollection(cells, linewidth=0.6, zorder=2, **look))
    for step, (word, stage) in enumerate(panel.schedule):
        if word == "drop":
            axes.plot(step, stage - 0.52, marker="X", ms=10, color=p.CONFLICT, lw=0, zorder=4)
    for life in panel.lives:
        if life.again is not None:
            axes.plot(
                life.again, life.stage - 1, "o", ms=19, mfc="none", mec=p.INK, mew=2, zorder=3
            )
    axes.set_ylim(-0.75, max(stage for _, stage in panel.schedule) + 0.6)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xticks([])


def _memory(axes: Axes, rises: Sequence[float], budget: float, most: float) -> None:
    axes.fill_between(
        [step - 0.5 for step in range(len(rises) + 1)],
        [*rises, rises[-1]],
        step="post",
        facecolor=p.READ_TINT,
        edgecolor=p.ACTIVE,
    )
    axes.axhline(budget, color=p.CONFLICT if max(rises) > budget else p.INK, lw=1.6)
    axes.set_ylim(0, most * 1.12)


def _axes(figure: Figure, left: float, bottom: float, width: float, top: float) -> Axes:
    """Axes at a place measured in inches."""
    return figure.add_axes(
        (left / p.WIDEST, bottom / HEIGHT, width / p.WIDEST, (top - bottom) / HEIGHT)
    )


def draw_pareto(
    curves: Mapping[str, Sequence[tuple[float, float]]], ax: Axes | None = None
) -> Figure:
    """Returns memory against cost: what each plan takes, and how much it runs.

    Args:
        curves: {plan: [(bytes, cost over that of the plain run), ...]}; the first one is drawn as
            a line, the others as points.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.8, (0.75, 0.55, 0.2, 0.4))
        unit, name = byte_unit(max(memory for points in curves.values() for memory, _ in points))
        ceiling = _ceiling([cost for points in curves.values() for _, cost in points])
        for (plan, points), look in zip(curves.items(), CURVES, strict=False):
            for memory, cost in points:
                if cost > ceiling:
                    _beyond(axes, memory / unit, 100 * (ceiling - 1), cost, str(look["color"]))
            axes.plot(
                [memory / unit for memory, cost in points if cost <= ceiling],
                [100 * (cost - 1) for _, cost in points if cost <= ceiling],
                label=plan,
                markersize=6,
                drawstyle="steps-post" if look["linestyle"] == "-" else "default",
                **look,
            )
        axes.set_xlim(left=0)
        p.headline(axes, "Less memory against more work: lower left is better")
        axes.set_ylim(-2, 100 * (ceiling - 1) * 1.08)
        axes.set_xlabel(f"peak in {name}")
        axes.set_ylabel("more FLOP than the plain run, %")
        axes.legend(loc="upper right", frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_pareto(curves))


def _ceiling(costs: Sequence[float]) -> float:
    """The highest cost that is drawn to scale: one far-off point must not flatten all others."""
    ordered = sorted(costs)
    usual = ordered[int(0.85 * (len(ordered) - 1))]
    near = max(cost for cost in ordered if cost - 1 <= 1.6 * max(usual - 1, 0.01))
    return near if ordered[-1] - 1 > 1.6 * (near - 1) else ordered[-1]


def _beyond(axes: Axes, memory: float, top: float, cost: float, colour: str) -> None:
    """An arrow at the upper edge, and the percentage of a point that lies beyond it."""
    axes.text(
        memory, top * 1.03, f"\u2191 {100 * (cost - 1):.0f} %", ha="center", va="center",
        fontsize=p.SMALL, fontweight="bold", color=colour,
    )  # fmt: skip


def describe_pareto(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Returns in words what `draw_pareto` shows."""
    said = ["Peak memory against work."]
    for plan, points in curves.items():
        ends = [min(points), max(points)] if len(points) > 1 else [points[0]]
        words = " to ".join(
            f"{format_bytes(memory)} at {100 * (cost - 1):.0f} % more" for memory, cost in ends
        )
        said.append(f"{plan}: {words}.")
    return " ".join(said)
