"""Device cards side by side: how fast each GPU's memory is, and how fast it computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from gpu_course.draw import palette as p
from gpu_course.draw.furniture import row_label, title
from gpu_course.draw.picture import with_alt
from gpu_course.units import format_bandwidth, format_flops

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 1.2
_ROW = 0.34
_APART = 0.3


class Card(Protocol):
    """What the picture reads of a device card; a number that is not known is None."""

    @property
    def name(self) -> str: ...
    @property
    def bandwidth_bytes_per_s(self) -> float | None: ...
    @property
    def fp32_flop_per_s(self) -> float | None: ...
    @property
    def tensor_flop_per_s(self) -> float | None: ...


def _rate(flop_per_s: float) -> str:
    return f"{format_flops(flop_per_s)}/s"


_COLUMNS = (
    ("memory bandwidth", "bandwidth_bytes_per_s", format_bandwidth, p.READ, ""),
    ("FP32", "fp32_flop_per_s", _rate, p.ACTIVE, ""),
    ("16-bit tensor cores", "tensor_flop_per_s", _rate, p.ACTIVE, "////"),
)


def draw_cards(cards: Sequence[Card], ax: Axes | None = None) -> Figure:
    """Returns bars of bandwidth and FLOP/s, one row per device, on logarithmic scales.

    Args:
        cards: DeviceCard or anything with a name and the three rates, in bytes/s and FLOP/s.
        ax: axes to draw on instead of a new figure.
    """
    names = max((0.088 * len(card.name) + 0.25 for card in cards), default=1.0)
    column = (p.WIDEST - 2 * _EDGE - names - _APART * (len(_COLUMNS) - 1)) / len(_COLUMNS)
    height = _TOP + len(cards) * _ROW + 0.35
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(
            axes,
            _EDGE,
            "Bytes and operations per second",
            "Logarithmic scales: one tick to the next is ten times as much.",
            mono=False,
        )
        for place, card in enumerate(cards):
            y = _TOP + (place + 0.5) * _ROW
            row_label(axes, _EDGE + names - 0.15, y, card.name)
        for number, (words, attribute, show, colour, hatch) in enumerate(_COLUMNS):
            left = _EDGE + names + number * (column + _APART)
            axes.text(left, _TOP - 0.14, words, fontsize=p.NORMAL, fontweight="bold", color=p.INK)
            values = [getattr(card, attribute) for card in cards]
            _draw_column(axes, values, show, left, column, (colour, hatch))
    return with_alt(figure, describe_cards(cards))


def describe_cards(cards: Sequence[Card]) -> str:
    """Returns in words what `draw_cards` shows."""
    said = [f"Bandwidth and arithmetic of {len(cards)} devices."]
    for card in cards:
        parts = [
            f"{words} {show(value)}"
            for words, attribute, show, _, _ in _COLUMNS
            if (value := getattr(card, attribute)) is not None
        ]
        said.append(f"{card.name}: {', '.join(parts) or 'no rate known'}.")
    return " ".join(said)


def _draw_column(
    axes: Axes,
    values: Sequence[float | None],
    show: Callable[[float], str],
    left: float,
    width: float,
    look: tuple[str, str],
) -> None:
    from matplotlib.patches import Rectangle

    known = [v for v in values if v]
    if not known:
        return
    low = math.floor(math.log10(min(known)) - 0.3)
    high = math.ceil(math.log10(max(known)))
    reach = width - 1.0
    bottom = _TOP + len(values) * _ROW
    for power in range(low, high + 1):
        x = left + reach * (power - low) / (high - low)
        axes.plot([x, x], [_TOP, bottom], color=p.IDLE, lw=0.8, zorder=1)
    for place, value in enumerate(values):
        y = _TOP + (place + 0.5) * _ROW
        if not value:
            axes.text(left, y, "not known", fontsize=p.SMALL, color=p.QUIET, va="center_baseline")
            continue
        length = reach * (math.log10(value) - low) / (high - low)
        axes.add_patch(
            Rectangle(
                (left, y - 0.1),
                length,
                0.2,
                facecolor=look[0],
                hatch=look[1],
                edgecolor=p.PAPER,
                linewidth=0,
                zorder=2,
            )
        )
        axes.text(
            left + length + 0.06,
            y,
            show(value),
            fontsize=p.SMALL,
            color=p.INK,
            va="center_baseline",
            zorder=3,
            bbox={"boxstyle": "round,pad=0.05", "facecolor": p.PAPER, "edgecolor": "none"},
        )
