"""Pictures of the roofline: kernels under the roof of a card, and many of them in a list.

The simulator counts FLOP and the bytes asked for. It knows no cache, so it gives two places of a
kernel from left to right: as it asks, and at best, if every array were moved once. It knows no
clock, so a kernel's height is drawn only where somebody measured it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import format_bandwidth, format_flops
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Roofs:
    """A card as a picture needs it.

    Attributes:
        name: such as "H100, float32".
        flop_per_s, bytes_per_s: its two rates.
        source: who says so.
    """

    name: str
    flop_per_s: float
    bytes_per_s: float
    source: str = "by the data sheet"

    @property
    def ridge(self) -> float:
        """FLOP for each byte at the corner."""
        return self.flop_per_s / self.bytes_per_s

    def at(self, intensity: float) -> float:
        """Returns the roof's height in FLOP/s."""
        return min(self.flop_per_s, intensity * self.bytes_per_s)


@dataclass(frozen=True)
class Kernel:
    """A kernel under a roof.

    Attributes:
        name: of the kernel.
        intensity: FLOP for each byte asked for; 0 where it computes nothing.
        best: FLOP for each byte if every array were moved once; 0 where that is not known.
        share: measured rate over that of the roof at best; None where there is no record.
    """

    name: str
    intensity: float
    best: float = 0.0
    share: float | None = None

    @property
    def farthest(self) -> float:
        """The intensity at best: no cache makes it larger."""
        return max(self.intensity, self.best)


_LEFT, _BOTTOM, _TOP, _RIGHT = 1.15, 0.62, 0.75, 0.3
_HEIGHT = 4.2
_MARKS = ("v", "s", "^", "D", "P", "X")
_COLOURS = (p.ACTIVE, p.CONFLICT, p.FINE, p.CONTRAST, p.WRITE, p.INK)
_CHARACTER = 0.62 * p.SMALL / 72
"""Inches of a character of the smallest text, a wide one."""
NO_RECORD = "no record"


def draw_roofline(
    roofs: Roofs,
    kernels: Sequence[Kernel],
    span: tuple[float, float] | None = None,
    across: str = "FLOP for each byte asked for",
    reached: Roofs | None = None,
) -> Figure:
    """Returns the roof of a card with kernels below it.

    A kernel without a record is a line from the floor to the roof with an open mark on the roof:
    nobody knows how high it reaches. A dotted line leads from there to where it would be if a cache
    answered all that is asked for twice. With a record it is a filled point below its place at
    best.

    Args:
        roofs: the card.
        kernels: in order; those that compute nothing cannot be placed and are left out.
        span: the least and the largest intensity shown; default what the kernels need.
        across: what is counted from left to right.
        reached: a second roof, of rates that somebody measured, drawn in dashes.
    """
    shown = [kernel for kernel in kernels if kernel.intensity > 0]
    low, high = span or _span(roofs, shown)
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, _HEIGHT, (_LEFT, _BOTTOM, _RIGHT, _TOP))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        measured = [roofs.at(k.farthest) * k.share / 2 for k in shown if k.share is not None]
        floor, top = roofs.at(low) / 4, roofs.flop_per_s * 3.2
        if min(measured, default=floor) < floor:  # And the key needs its part of the height.
            floor = min(measured)
            top = roofs.flop_per_s * (roofs.flop_per_s / floor) ** 0.5
        axes.set_xlim(low, high)
        axes.set_ylim(floor, top)
        edge = [low, min(max(roofs.ridge, low), high), high]
        heights = [roofs.at(x) for x in edge]
        axes.fill_between(edge, heights, floor, color=p.SHADE, lw=0, zorder=0)
        axes.plot(edge, heights, color=p.INK, lw=2.4, zorder=3)
        if low < roofs.ridge < high:
            axes.plot([roofs.ridge] * 2, [floor, roofs.flop_per_s], color=p.RULE, lw=1, zorder=1)
            _name_the_ridge(axes, roofs, [_column(kernel) for kernel in shown])
        if reached is not None:
            corners = [low, min(max(reached.ridge, low), high), high]
            axes.plot(
                corners, [reached.at(x) for x in corners], color=p.FINE, lw=2.0, zorder=3,
                linestyle=p.READ_DASHES, label=f"reached: {_rates(reached)}",
            )  # fmt: skip
        for number, kernel in enumerate(shown):
            _place(axes, roofs, kernel, number, floor)
        _name_the_roofs(figure, roofs)
        _scale(axes)
        axes.set_xlabel(across)
        if shown or reached is not None:
            axes.legend(loc="upper left", frameon=False, fontsize=p.SMALL, handlelength=1.6)
    return with_alt(figure, describe_roofline(roofs, kernels, reached))


def describe_roofline(roofs: Roofs, kernels: Sequence[Kernel], reached: Roofs | None = None) -> str:
    """Returns in words what `draw_roofline` shows."""
    parts = [f"The roof of {roofs.name}: {_rates(roofs)}, ridge at {roofs.ridge:.3g} FLOP/byte"]
    if reached is not None:
        parts.append(f"Reached: {_rates(reached)}, ridge at {reached.ridge:.3g} FLOP/byte")
    for kernel in kernels:
        if not kernel.intensity:
            parts.append(f"{kernel.name} computes nothing")
            continue
        parts.append(
            f"{kernel.name} asks for a byte for every {kernel.intensity:.3g} FLOP: at most "
            f"{format_flops(roofs.at(kernel.intensity))}/s without a cache, at best "
            f"{format_flops(roofs.at(kernel.farthest))}/s, {bound(roofs, kernel)}-bound; "
            f"{_known(kernel)}"
        )
    return ". ".join(parts) + "."


def _rates(roofs: Roofs) -> str:
    return f"{format_flops(roofs.flop_per_s)}/s, {format_bandwidth(roofs.bytes_per_s)}"


def bound(roofs: Roofs, kernel: Kernel) -> str:
    """Returns what binds a kernel at best: "bandwidth" below the ridge, else "compute"."""
    return "bandwidth" if kernel.farthest < roofs.ridge else "compute"


def _known(kernel: Kernel) -> str:
    if kernel.share is None:
        return NO_RECORD
    return f"measured {kernel.share:.0%} of the roof at best"


def _span(roofs: Roofs, kernels: Sequence[Kernel]) -> tuple[float, float]:
    every = [x for k in kernels for x in (k.intensity, k.farthest)] + [roofs.ridge]
    return 2.0 ** (math.floor(math.log2(min(every))) - 2), 2.0 ** (
        math.ceil(math.log2(max(every))) + 2
    )


def _column(kernel: Kernel) -> float:
    """Returns at which intensity the line of a kernel stands."""
    return kernel.farthest if kernel.share is not None else kernel.intensity


def _name_the_ridge(axes: Axes, roofs: Roofs, columns: Sequence[float]) -> None:
    """Names the ridge on the side where the name crosses no kernel's line and not the edge."""
    words = f" ridge: {roofs.ridge:.3g} FLOP/byte "
    low, high = axes.get_xlim()
    wide = len(words) * _CHARACTER / (p.WIDEST - _LEFT - _RIGHT)
    far = roofs.ridge * (high / low) ** wide
    near = roofs.ridge * (high / low) ** -wide
    crosses_right = far > high or any(roofs.ridge < x < far for x in columns)
    crosses_left = near < low or any(near < x < roofs.ridge for x in columns)
    axes.text(
        roofs.ridge, axes.get_ylim()[0] * 1.25, words, fontsize=p.SMALL, color=p.QUIET,
        va="bottom", ha="right" if crosses_right and not crosses_left else "left", zorder=6,
    )  # fmt: skip


def _place(axes: Axes, roofs: Roofs, kernel: Kernel, number: int, floor: float) -> None:
    colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
    measured = kernel.share is not None
    x = _column(kernel)
    height = roofs.at(x) * (kernel.share or 1.0)
    if kernel.best > kernel.intensity * 1.02:
        steps = [
            kernel.intensity,
            min(max(roofs.ridge, kernel.intensity), kernel.best),
            kernel.best,
        ]
        axes.plot(
            steps, [roofs.at(x) * 1.16 for x in steps], color=colour, lw=1.6,
            linestyle=p.OUTSIDE_DASHES, zorder=4,
        )  # fmt: skip
    axes.plot([x] * 2, [floor, height], color=colour, lw=1.6, zorder=4)
    axes.plot(
        [x], [height], color=colour, marker=mark, ms=9, zorder=7, markeredgewidth=1.8, lw=1.6,
        markerfacecolor=colour if measured else p.PAPER,
        label=f"{kernel.name}: {kernel.intensity:.3g} FLOP/byte, "
        + (f"measured {kernel.share:.0%} of its roof" if measured else NO_RECORD),
    )  # fmt: skip


def _scale(axes: Axes) -> None:
    """Labels both axes with numbers that are read as they are said."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = (round(math.log2(end)) for end in axes.get_xlim())
    step = max(1, round((high - low) / 8))
    axes.xaxis.set_major_locator(FixedLocator([2.0**k for k in range(low, high + 1, step)]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"1/{1 / x:,.0f}")
    )
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{format_flops(y)}/s"))
    axes.yaxis.set_minor_locator(NullLocator())


def _name_the_roofs(figure: Figure, roofs: Roofs) -> None:
    tall = figure.get_figheight()
    figure.text(
        _LEFT / p.WIDEST, 1 - 0.27 / tall, f"Under the roof of {roofs.name}", fontsize=p.LARGE,
        fontweight="bold", color=p.INK, va="center",
    )  # fmt: skip
    second = (
        f"{format_bandwidth(roofs.bytes_per_s)} on the slope, {format_flops(roofs.flop_per_s)}/s "
        f"on the flat; {roofs.source}"
    )
    figure.text(
        _LEFT / p.WIDEST, 1 - 0.52 / tall, second, fontsize=p.NORMAL, color=p.QUIET, va="center"
    )


_ROW, _HEAD, _FOOT = 0.26, 1.25, 0.5
_NAME, _ASKED, _BEST, _NO_CACHE, _ROOF, _BAR, _END = 0.25, 2.75, 3.4, 4.45, 5.5, 5.7, 6.95


def draw_under_roof(roofs: Roofs, kernels: Sequence[Kernel], ax: Axes | None = None) -> Figure:
    """Returns a list of kernels: their FLOP for each byte, and the roof above, without a cache and
    at best.

    The bar runs from zero to the roof at best. It is filled as far as a record reaches, and dotted
    where there is none.

    Args:
        roofs: the card.
        kernels: in order.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        rows = max(1, len(kernels))
        figure, axes = p.sheet(p.WIDEST, _HEAD + rows * _ROW + _FOOT, ax)
        known = sum(kernel.share is not None for kernel in kernels)
        counted = f"{count(len(kernels), 'kernel')} by what was counted"
        second = f"{counted}; {known} with a record of the solution's time"
        title(axes, _NAME, f"Under the roof of {roofs.name}", second, mono=False)
        for x, upper, lower, side in (
            (_NAME, "", "kernel", "left"), (_ASKED, "FLOP/byte", "asked for", "right"),
            (_BEST, "", "at best", "right"), (_NO_CACHE, "roof above,", "no cache", "right"),
            (_ROOF, "", "at best", "right"), (_BAR, "from 0 to the", "roof at best", "left"),
        ):  # fmt: skip
            for y, word in ((0.42, upper), (0.22, lower)):
                axes.text(x, _HEAD - y, word, fontsize=p.SMALL, color=p.QUIET, ha=side, va="center")
        for number, kernel in enumerate(kernels):
            _row(axes, _HEAD + (number + 0.5) * _ROW, roofs, kernel)
        if not kernels:
            axes.text(_NAME, _HEAD + 0.1, "no kernel yet", fontsize=p.NORMAL, color=p.INK)
        _bar_legend(axes, _HEAD + rows * _ROW + 0.26)
    return with_alt(figure, describe_under_roof(roofs, kernels))


def describe_under_roof(roofs: Roofs, kernels: Sequence[Kernel]) -> str:
    """Returns in words what `draw_under_roof` shows, a line for each kernel."""
    lines = [f"Under the roof of {roofs.name}, by counts of the simulator:"]
    known = any(kernel.share is not None for kernel in kernels)
    for kernel in kernels:
        no_cache, at_best = _two_roofs(roofs, kernel)
        lines.append(
            f"{kernel.name}: {kernel.intensity:.2g} FLOP/byte, {kernel.farthest:.2g} at best; "
            f"roof {no_cache}, {at_best} at best, {bound(roofs, kernel)}"
            f"{f'; {_known(kernel)}' if known else ''}."
        )
    if kernels and not known:
        lines.append("No record says how high any of them reaches.")
    return "\n".join(lines if kernels else [*lines, "no kernel yet."])


def _two_roofs(roofs: Roofs, kernel: Kernel) -> tuple[str, str]:
    """The roof as a kernel asks, and at best; in bytes for one that computes nothing."""
    if not kernel.intensity:
        return (format_bandwidth(roofs.bytes_per_s),) * 2
    no_cache, at_best = (roofs.at(x) for x in (kernel.intensity, kernel.farthest))
    return f"{format_flops(no_cache)}/s", f"{format_flops(at_best)}/s"


def _row(axes: Axes, y: float, roofs: Roofs, kernel: Kernel) -> None:
    from matplotlib.patches import Rectangle

    def write(x: float, text: str, side: str, mono: bool = False) -> None:
        axes.text(
            x, y, text, fontsize=p.SMALL, color=p.INK, ha=side, va="center_baseline", zorder=6,
            family="monospace" if mono else "sans-serif",
        )  # fmt: skip

    write(_NAME, kernel.name, "left", mono=True)
    write(_ASKED, f"{kernel.intensity:.2g}", "right")
    write(_BEST, f"{kernel.farthest:.2g}", "right")
    for x, words in zip((_NO_CACHE, _ROOF), _two_roofs(roofs, kernel), strict=True):
        write(x, words, "right")
    high = 0.15
    if kernel.share is None:
        look = {**p.UNWRITTEN_CELL, "linestyle": p.READ_DASHES}
        axes.add_artist(Rectangle((_BAR, y - high / 2), _END - _BAR, high, zorder=3, **look))
        return
    axes.add_artist(
        Rectangle(
            (_BAR, y - high / 2), (_END - _BAR) * min(kernel.share, 1.0), high, zorder=3,
            facecolor=p.ACTIVE, edgecolor=p.ACTIVE, linewidth=0,
        )
    )  # fmt: skip
    axes.add_artist(Rectangle((_BAR, y - high / 2), _END - _BAR, high, zorder=4, **_FRAME))


_FRAME: dict[str, Any] = {"facecolor": "none", "edgecolor": p.RULE, "linewidth": 1.0}


def _bar_legend(axes: Axes, y: float) -> None:
    from matplotlib.patches import Rectangle

    look = {**p.UNWRITTEN_CELL, "linestyle": p.READ_DASHES}
    for x, looks, words in (
        (_NAME, look, "no record: how high it reaches is not known"),
        (
            _BAR - 1.8,
            {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE},
            "measured: the solution, by a record",
        ),
    ):
        axes.add_artist(Rectangle((x, y - 0.08), 0.3, 0.16, zorder=3, **looks))
        axes.text(x + 0.4, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
