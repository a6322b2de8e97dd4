"""Pictures of lesson 31: twins of a benchmark, each pair one mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _TOP, _SIDE, _FOOT = 1.0, 1.0, 4.6, 0.75
_KEY = _LEFT + _SIDE + 0.25


@dataclass(frozen=True)
class Pair:
    """Two runs of the same settings but one: tokens a second on each GPU."""

    slow: float
    fast: float

    @property
    def times(self) -> float:
        """How many times as fast the faster one is."""
        return self.fast / self.slow


def describe_twins(pairs: Sequence[Pair], limit: float) -> str:
    """Returns in words what `draw_twins` shows."""
    if not pairs:
        return "Twins of the benchmark: there are none."
    apart = sum(pair.times > limit for pair in pairs)
    worst = max(pairs, key=lambda pair: pair.times)
    return (
        f"{len(pairs)} pairs of runs that differ in ZeRO alone: in {apart} one run is over "
        f"{limit:g} times as fast, at worst {worst.times:.0f} times, {worst.fast:,.0f} tokens a "
        f"second on each GPU against {worst.slow:,.0f}."
    )


def draw_twins(pairs: Sequence[Pair], limit: float, ax: Axes | None = None) -> Figure:
    """Returns each pair as a mark: the faster run to the right, the slower one upwards.

    Args:
        pairs: in any order.
        limit: pairs that differ by more than so many times are marked as sick.
        ax: axes to draw on instead of a new figure.
    """
    speeds = [speed for pair in pairs for speed in (pair.slow, pair.fast)] or [10.0, 1e4]
    first, last = math.floor(math.log10(min(speeds))), math.ceil(math.log10(max(speeds)))
    last = max(last, first + 1)

    def at(speed: float) -> float:
        return _SIDE * (math.log10(speed) - first) / (last - first)

    apart = sum(pair.times > limit for pair in pairs)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, _TOP + _SIDE + _FOOT, ax)
        title(
            axes, 0.3, f"In {apart} of {len(pairs)} pairs one run is over {limit:g} times as fast",
            "The same layout with ZeRO and without: tokens a second on each GPU", mono=False,
        )  # fmt: skip
        bottom = _TOP + _SIDE
        for power in range(first, last + 1):
            x, y = _LEFT + at(10.0**power), bottom - at(10.0**power)
            axes.plot([x, x], [_TOP, bottom], color=p.IDLE, lw=0.8, zorder=1)
            axes.plot([_LEFT, _LEFT + _SIDE], [y, y], color=p.IDLE, lw=0.8, zorder=1)
            said = f"{10**power:,}"
            axes.text(x, bottom + 0.16, said, fontsize=p.SMALL, ha="center", va="center")
            axes.text(_LEFT - 0.1, y, said, fontsize=p.SMALL, ha="right", va="center")
        axes.text(
            _LEFT + _SIDE / 2, bottom + 0.42, "the faster of the two", fontsize=p.SMALL,
            ha="center", va="center", color=p.QUIET,
        )  # fmt: skip
        axes.text(
            0.22, _TOP + _SIDE / 2, "the slower", fontsize=p.SMALL, ha="center", va="center",
            color=p.QUIET, rotation=90,
        )  # fmt: skip
        for times, style in ((1.0, "solid"), (limit, p.OUTSIDE_DASHES)):
            low = 10.0**first
            axes.plot(
                [_LEFT + at(low * times), _LEFT + _SIDE],
                [bottom, bottom - at(10.0**last / times)],
                color=p.INK, lw=1.2, linestyle=style, zorder=2,
            )  # fmt: skip
        for pair in pairs:
            sick = pair.times > limit
            axes.scatter(
                [_LEFT + at(pair.fast)], [bottom - at(pair.slow)], s=34, lw=0.8, zorder=3,
                marker="X" if sick else "o", color=p.CONFLICT if sick else p.FINE,
            )  # fmt: skip
        _legend(axes, limit)
    return with_alt(figure, describe_twins(pairs, limit))


def _legend(axes: Axes, limit: float) -> None:
    rows = (
        ("o", p.FINE, "about alike"),
        ("X", p.CONFLICT, f"over {limit:g} times"),
    )
    for at, (marker, colour, words) in enumerate(rows):
        y = _TOP + 0.2 + 0.3 * at
        axes.scatter([_KEY], [y], s=34, marker=marker, color=colour, lw=0)
        axes.text(_KEY + 0.15, y, words, fontsize=p.SMALL, va="center")
    for at, (style, words) in enumerate(
        (("solid", "equal"), (p.OUTSIDE_DASHES, f"{limit:g} times"))
    ):
        y = _TOP + 0.9 + 0.3 * at
        axes.plot([_KEY - 0.1, _KEY + 0.1], [y, y], color=p.INK, lw=1.2, linestyle=style)
        axes.text(_KEY + 0.2, y, words, fontsize=p.SMALL, va="center")
