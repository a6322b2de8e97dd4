"""What pictures of memory share: how each kind looks, a ledger over time, and a bar by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import byte_unit, format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the ground up: what stands first, what comes and goes on top.
LOOKS: dict[str, dict[str, Any]] = {
    "parameters": {"facecolor": p.IDLE, "edgecolor": p.RULE},
    "optimizer states": {"facecolor": p.STATES, "edgecolor": p.QUIET, "hatch": ".."},
    "gradients": {"facecolor": p.WRITE, "edgecolor": p.WRITE_EDGE, "hatch": "//"},
    "activations": {"facecolor": p.READ, "edgecolor": p.ACTIVE},
    "temporaries": {"facecolor": p.CONTRAST, "edgecolor": p.INK, "hatch": "xx"},
}


class Ledger(Protocol):
    """What a picture reads of a ledger."""

    @property
    def moments(self) -> int: ...
    @property
    def live(self) -> Mapping[str, Sequence[int]]: ...
    @property
    def phases(self) -> Sequence[Any]: ...


def draw_live(
    parts: Mapping[str, float], limit_bytes: float | None = None, ax: Axes | None = None
) -> Figure:
    """Returns one stacked bar of bytes by kind, and how far a GPU's memory reaches.

    Args:
        parts: {kind: bytes}, kinds as in a ledger.
        limit_bytes: of the GPU; default none.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 2.2, (0.35, 0.55, 0.35, 0.4))
        total = sum(parts.values())
        unit, name = byte_unit(max(total, limit_bytes or 0))
        left = 0.0
        for kind, size in parts.items():
            axes.barh([0], [size / unit], left=left, height=0.5, label=kind, **LOOKS[kind])
            left += size / unit
        if limit_bytes:
            colour = p.INK if total <= limit_bytes else p.CONFLICT
            axes.plot([limit_bytes / unit] * 2, [-0.4, 0.42], color=colour, lw=2)
            axes.annotate(
                format_bytes(limit_bytes),
                (limit_bytes / unit, 0.42),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=p.SMALL,
                fontweight="bold",
                color=colour,
            )
        axes.set_xlim(0, max(total, limit_bytes or 0) / unit * 1.04)
        axes.set_ylim(-0.4, 1.3)
        p.headline(axes, "Memory by kind" + (", and what the GPU has" if limit_bytes else ""))
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(name)
        axes.legend(loc="upper left", ncols=4, frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_live(parts, limit_bytes))


def describe_live(parts: Mapping[str, float], limit_bytes: float | None = None) -> str:
    """Returns in words what `draw_live` shows."""
    total = sum(parts.values())
    said = ", ".join(f"{kind} {format_bytes(size)}" for kind, size in parts.items())
    if limit_bytes is None:
        return f"{format_bytes(total)}: {said}."
    fits = "fits into" if total <= limit_bytes else "does not fit into"
    return f"{format_bytes(total)} {fits} {format_bytes(limit_bytes)}: {said}."


def totals(ledger: Ledger) -> list[int]:
    """Returns the bytes there are at each moment."""
    return [sum(kinds) for kinds in zip(*ledger.live.values(), strict=True)]
