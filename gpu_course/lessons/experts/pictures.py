"""Pictures of experts: tokens that flow to them, and how even their load is in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import heard, with_alt
from gpu_course.errors import CourseError
from gpu_course.lessons.experts.routing import Routed
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_EXPERTS, MOST_NODES = 16, 4
_EDGE, _TOP = 0.3, 0.95
_LEFT, _PORT, _BAR = 1.12, 3.75, 4.62
_THICK = 0.12
_KEPT: dict[str, Any] = {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 0.5}
_DROPPED: dict[str, Any] = {
    "facecolor": p.CONFLICT_TINT, "edgecolor": p.CONFLICT, "hatch": p.CONFLICT_HATCH,
    "linewidth": 1.0,
}  # fmt: skip


def draw_flow(routed: Routed, ax: Axes | None = None) -> Figure:
    """Returns copies of tokens on their way from nodes to experts, and what experts have room for.

    Args:
        routed: at most 16 experts on at most 4 nodes.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more.
    """
    if routed.experts > MOST_EXPERTS or routed.nodes > MOST_NODES:
        raise CourseError(
            f"{routed.experts} experts on {routed.nodes} nodes",
            f"draw at most {MOST_EXPERTS} experts on at most {MOST_NODES} nodes",
        )
    sent, dropped = routed.sent, routed.dropped
    loads = (sent + dropped).sum(0)
    pitch = 0.36 if routed.experts <= 8 else 0.2
    tall = routed.experts * pitch
    unit = 0.9 * pitch / max(loads.max(), 1)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, _TOP + tall + 0.5, ax)
        title(axes, _EDGE, _headline(routed), _second(routed), mono=False)
        _bands(axes, routed, pitch)
        gap = (tall - unit * loads.sum()) / routed.nodes
        y = _TOP + gap / 2
        ports = [_TOP + (e + 0.5) * pitch - unit * loads[e] / 2 for e in range(routed.experts)]
        for node in range(routed.nodes):
            own = (sent + dropped)[node]
            _source(axes, node, y, unit * own.sum())
            for expert, copies in enumerate(own):
                wide = unit * copies
                if copies:
                    home = expert // routed.per_node == node
                    _ribbon(axes, y, ports[expert], wide, node, home)
                y += wide
                ports[expert] += wide
            y += gap
        _bars(axes, routed, pitch)
        _legend(axes, _TOP + tall + 0.27)
    return with_alt(figure, describe_flow(routed))


def _headline(routed: Routed) -> str:
    tokens, chosen = routed.choices.shape
    return f"{tokens} tokens, {count(chosen, 'expert')} each, room for {routed.capacity} in each"


def _second(routed: Routed) -> str:
    copies, lost = routed.choices.size, int(routed.dropped.sum())
    reached = routed.nodes_of_tokens.mean()
    return (
        f"{lost} of {copies} copies dropped  \u00b7  a token's experts lie on {reached:.1f} nodes"
        f"  \u00b7  {routed.leaving} copies leave their node"
    )


def _bands(axes: Axes, routed: Routed, pitch: float) -> None:
    """Draws a ground behind the experts of each node, and the nodes' names."""
    from matplotlib.patches import Rectangle

    high = routed.per_node * pitch
    for node in range(routed.nodes):
        y = _TOP + node * high
        ground = p.SHADE if node % 2 == 0 else p.PAPER
        axes.add_artist(
            Rectangle((_PORT, y), p.WIDEST - 0.15 - _PORT, high, facecolor=ground, lw=0, zorder=0)
        )
        axes.text(
            p.WIDEST - 0.22, y + high / 2, f"node {node}", fontsize=p.SMALL, color=p.QUIET,
            ha="right", va="center_baseline",
        )  # fmt: skip


def _source(axes: Axes, node: int, y: float, high: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_artist(
        Rectangle((_LEFT - _THICK, y), _THICK, high, facecolor=p.BLOCK_COLOURS[node], lw=0)
    )
    axes.text(
        _LEFT - _THICK - 0.1, y + high / 2, f"node {node}", fontsize=p.SMALL, color=p.INK,
        ha="right", va="center_baseline",
    )  # fmt: skip


def _ribbon(axes: Axes, left: float, right: float, wide: float, node: int, home: bool) -> None:
    """Draws copies on their way; those that stay in their node are grey."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    middle = (_LEFT + _PORT) / 2
    corners = [
        (_LEFT, left), (middle, left), (middle, right), (_PORT, right),
        (_PORT, right + wide), (middle, right + wide), (middle, left + wide), (_LEFT, left + wide),
        (_LEFT, left),
    ]  # fmt: skip
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    colour = p.RULE if home else p.BLOCK_COLOURS[node]
    axes.add_artist(
        PathPatch(
            Path(corners, codes), facecolor=colour, linewidth=0, alpha=0.55, zorder=1 + (not home)
        )
    )


def _bars(axes: Axes, routed: Routed, pitch: float) -> None:
    """Draws for each expert what it takes, what it drops, and a mark where it is full."""
    from matplotlib.patches import Rectangle

    kept, lost = routed.sent.sum(0), routed.dropped.sum(0)
    longest = max((kept + lost).max(), routed.capacity, 1)
    unit = 1.15 / longest
    for expert in range(routed.experts):
        y = _TOP + (expert + 0.5) * pitch
        axes.text(
            _BAR - 0.1, y, f"expert {expert}", fontsize=p.SMALL, color=p.INK, ha="right",
            va="center_baseline",
        )  # fmt: skip
        high = 0.62 * pitch
        full = int(kept[expert]) * unit
        axes.add_artist(Rectangle((_BAR, y - high / 2), full, high, zorder=3, **_KEPT))
        if lost[expert]:
            more = int(lost[expert]) * unit
            axes.add_artist(
                Rectangle((_BAR + full, y - high / 2), more, high, zorder=3, **_DROPPED)
            )
        room = _BAR + routed.capacity * unit
        axes.add_artist(
            Rectangle((room - 0.01, y - 0.46 * pitch), 0.02, 0.92 * pitch, facecolor=p.INK, lw=0,
                      zorder=4)
        )  # fmt: skip
        words = f"{kept[expert]}" + (f", {lost[expert]} out" if lost[expert] else "")
        axes.text(
            _BAR + 1.22, y, words, fontsize=p.SMALL, color=p.INK, ha="left", va="center_baseline"
        )


def _legend(axes: Axes, y: float) -> None:
    from matplotlib.patches import Rectangle

    look: dict[str, Any] = {"linewidth": 0, "alpha": 0.55}
    entries: tuple[tuple[dict[str, Any], str, float], ...] = (
        ({"facecolor": p.RULE, **look}, "stays in its node", 1.62),
        ({"facecolor": "none"}, "leaves it", 1.15),
        (_KEPT, "taken", 0.95),
        (_DROPPED, "dropped", 1.1),
    )
    x = _EDGE
    for shape, words, further in entries:
        axes.add_artist(Rectangle((x, y - 0.08), 0.24, 0.16, zorder=3, **shape))
        if words == "leaves it":  # in the colour of its node, whichever that is
            for n, colour in enumerate(p.BLOCK_COLOURS[:4]):
                part = Rectangle((x + 0.06 * n, y - 0.08), 0.06, 0.16, facecolor=colour)
                part.set(**look)
                axes.add_artist(part)
        axes.text(x + 0.32, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += further
    axes.add_artist(Rectangle((x + 0.1, y - 0.1), 0.02, 0.2, facecolor=p.INK, lw=0, zorder=3))
    axes.text(x + 0.2, y, "room", fontsize=p.SMALL, color=p.INK, va="center_baseline")


def describe_flow(routed: Routed) -> str:
    """Returns in words what `draw_flow` shows."""
    lines = [f"{_headline(routed)}.", f"{heard(_second(routed))}."]
    for expert in range(routed.experts):
        kept, lost = int(routed.sent[:, expert].sum()), int(routed.dropped[:, expert].sum())
        froms = ", ".join(
            f"{copies} from node {node}"
            for node, copies in enumerate((routed.sent + routed.dropped)[:, expert])
            if copies
        )
        gone = f", drops {lost}" if lost else ""
        lines.append(
            f"Expert {expert} on node {expert // routed.per_node}: takes {kept}{gone}"
            + (f"; {froms}." if froms else ".")
        )
    return "\n".join(lines)


_LINES: tuple[dict[str, Any], ...] = (
    {"color": p.CONFLICT, "linestyle": (0, (5, 2))},
    {"color": p.WRITE_EDGE, "linestyle": (0, (1, 1.2))},
    {"color": p.ACTIVE, "linestyle": "solid"},
)
WINDOW = 20
"""Steps over which a line of `draw_load` is averaged."""


def averaged(values: Sequence[float], window: int = WINDOW) -> list[float]:
    """Returns the mean of each `window` values that stand side by side.

    >>> averaged([1, 3, 5], 2)
    [2.0, 4.0]
    """
    return [sum(values[i : i + window]) / window for i in range(len(values) - window + 1)]


def draw_load(over: Mapping[str, Sequence[float]]) -> Figure:
    """Returns how far the most loaded expert is over the mean, step by step, a line for each run.

    Args:
        over: {name: for each step how far, 1.0 being twice the mean}, at most three, longer than
            the window.
    """
    from matplotlib.ticker import PercentFormatter

    left, bottom, right, top = 0.85, 0.58, 0.25, 0.8
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.3, (left, bottom, right, top))
        for look, (name, values) in zip(_LINES, over.items(), strict=False):
            axes.plot(range(WINDOW, len(values) + 1), averaged(values), lw=2, label=name, **look)
        axes.set_ylim(0, 1.25 * max(max(averaged(values)) for values in over.values()))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.grid(color=p.IDLE, lw=0.6)
        axes.set_xlabel("step")
        axes.set_ylabel("over the mean load")
        axes.legend(loc="upper right", frameon=False, fontsize=p.SMALL, ncols=3)
        tall = figure.get_figheight()
        for below, words, size, weight, colour in (
            (0.27, "The most loaded expert", p.LARGE, "bold", p.INK),
            (0.54, f"mean of {WINDOW} steps; 0 % is an even load", p.NORMAL, "normal", p.QUIET),
        ):
            figure.text(
                left / p.WIDEST, 1 - below / tall, words, fontsize=size, fontweight=weight,
                color=colour, va="center",
            )  # fmt: skip
    return with_alt(figure, describe_load(over))


def describe_load(over: Mapping[str, Sequence[float]]) -> str:
    """Returns in words what `draw_load` shows."""
    lines = [f"How far the most loaded expert is over the mean, over {WINDOW} steps each."]
    for name, values in over.items():
        line = averaged(values)
        lines.append(
            f"{name}: {100 * line[0]:.0f} % in the first, {100 * line[-1]:.0f} % in the last of "
            f"{len(values)} steps."
        )
    return "\n".join(lines)
