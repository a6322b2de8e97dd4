"""Device cards side by side: how fast each GPU's memory is, and how fast it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import row_label, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import format_bandwidth, format_flops

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 0.85
_ROW = 0.27
_APART = 0.55
_NUMBER = 1.05
"""Inches that a number behind its bar takes."""


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
    """Returns bars of bandwidth and of FLOP/s, one row per device, on scales that begin at zero.

    Args:
        cards: DeviceCard or anything with a name and the three rates, in bytes/s and FLOP/s.
        ax: axes to draw on instead of a new figure.
    """
    names = max((0.088 * len(card.name) + 0.25 for card in cards), default=1.0)
    left = _EDGE + names
    height = _TOP + len(_COLUMNS) * (len(cards) * _ROW + _APART) + 0.1
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(
            axes,
            _EDGE,
            "Bytes and operations per second",
            "In each group the fastest fills the row, and half as fast is half as long.",
            mono=False,
        )
        y = _TOP + _APART - 0.15
        for words, attribute, show, colour, hatch in _COLUMNS:
            axes.text(left, y - 0.12, words, fontsize=p.NORMAL, fontweight="bold", color=p.INK)
            values = [getattr(card, attribute) for card in cards]
            for place, card in enumerate(cards):
                row_label(axes, left - 0.15, y + (place + 0.5) * _ROW, card.name)
            _draw_bars(axes, values, show, left, y, (colour, hatch))
            y += len(cards) * _ROW + _APART
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


def _draw_bars(
    axes: Axes,
    values: Sequence[float | None],
    show: Callable[[float], str],
    left: float,
    top: float,
    look: tuple[str, str],
) -> None:
    from matplotlib.patches import Rectangle

    most = max((value for value in values if value), default=0.0)
    reach = p.WIDEST - _EDGE - _NUMBER - left
    bottom = top + len(values) * _ROW
    axes.plot([left, left], [top, bottom], color=p.RULE, lw=0.8, zorder=1)
    for place, value in enumerate(values):
        y = top + (place + 0.5) * _ROW
        if not value:
            text = "no number in NVIDIA's documents"
            axes.text(left + 0.06, y, text, fontsize=p.SMALL, color=p.QUIET, va="center_baseline")
            continue
        length = reach * value / most
        bar = Rectangle((left, y - 0.09), length, 0.18, zorder=2)
        bar.set(facecolor=look[0], hatch=look[1], edgecolor=p.PAPER, linewidth=0)
        axes.add_artist(bar)
        axes.text(
            left + length + 0.06, y, show(value), fontsize=p.SMALL, color=p.INK,
            va="center_baseline", zorder=3,
        )  # fmt: skip
