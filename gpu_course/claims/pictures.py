"""A picture of forecasts: each interval beside what was measured, lesson by lesson."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _RIGHT = 0.3, 0.4
_TOP, _LESSON, _LINE, _GAP, _FOOT = 1.15, 0.3, 0.2, 0.14, 0.5
_FARTHEST = 16
"""The axis runs from a sixteenth of what was measured to sixteen times as much."""
_TICKS = (1 / 16, 1 / 4, 1, 4, 16)


@dataclass(frozen=True)
class Interval:
    """One forecast, as parts of what was measured: 1 is right.

    Attributes:
        number, low, high: the forecast over the measured value.
    """

    number: float
    low: float
    high: float

    @property
    def held(self) -> bool:
        """True where the measured value lies in the interval."""
        return self.low <= 1 <= self.high

    @property
    def width(self) -> float:
        """How wide it is, as a part of what was measured."""
        return self.high - self.low


def draw_forecasts(
    lessons: Mapping[str, Sequence[Interval]], verdict: str, ax: Axes | None = None
) -> Figure:
    """Returns every interval as a bar beside the line of what was measured.

    Args:
        lessons: {title: its forecasts, in order}; each lesson has some.
        verdict: what can be said of them all, one sentence.
        ax: axes to draw on instead of a new figure.
    """
    every = [interval for of_lesson in lessons.values() for interval in of_lesson]
    rows = len(every) * _LINE + len(lessons) * (_LESSON + _GAP)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, _TOP + rows + _FOOT, ax)
        held = sum(interval.held for interval in every)
        title(axes, _LEFT, _headline(held, len(every)), verdict, mono=False)
        y = _TOP
        _scale(axes, _TOP - 0.1, _TOP + rows)
        for name, of_lesson in lessons.items():
            _heading(axes, y + _LESSON / 2, name, of_lesson)
            y += _LESSON
            for interval in of_lesson:
                _bar(axes, y + _LINE / 2, interval)
                y += _LINE
            y += _GAP
        _legend(axes, y + 0.2)
    return with_alt(figure, describe_forecasts(lessons, verdict))


def describe_forecasts(lessons: Mapping[str, Sequence[Interval]], verdict: str) -> str:
    """Returns in words what `draw_forecasts` shows."""
    parts = [f"{name}: {score(of_lesson)}" for name, of_lesson in lessons.items()]
    return f"Forecasts. {'; '.join(parts)}. {verdict}"


def score(intervals: Sequence[Interval]) -> str:
    """Returns how many held and how wide the one in the middle is.

    >>> score([Interval(1.0, 0.5, 1.5), Interval(2.0, 1.5, 2.0)])
    '1 of 2 held, median width 0.75 times what was measured'
    """
    held = sum(interval.held for interval in intervals)
    wide = statistics.median(interval.width for interval in intervals)
    return f"{held} of {len(intervals)} held, median width {wide:.2g} times what was measured"


def _headline(held: int, of: int) -> str:
    if of == 1:
        return "Your one interval held" if held else "Your one interval did not hold"
    return f"{held} of your {of} intervals held"


def _at(ratio: float) -> float:
    """Returns where on the sheet a part of what was measured lies, within the axis."""
    inside = min(max(ratio, 1 / _FARTHEST), _FARTHEST)
    share = math.log(inside * _FARTHEST) / (2 * math.log(_FARTHEST))
    return _LEFT + share * (p.WIDEST - _LEFT - _RIGHT)


def _scale(axes: Axes, top: float, bottom: float) -> None:
    words = {1 / 16: "1/16", 1 / 4: "1/4", 1: "measured", 4: "4 times", 16: "16 times"}
    for tick in _TICKS:
        x = _at(tick)
        right = tick == 1
        axes.plot(
            [x, x],
            [top, bottom],
            color=p.INK if right else p.IDLE,
            lw=1.6 if right else 0.8,
            zorder=1,
        )
        axes.text(
            x, top - 0.13, words[tick], fontsize=p.SMALL, ha="center", va="center",
            color=p.INK if right else p.QUIET, fontweight="bold" if right else "normal",
        )  # fmt: skip


def _heading(axes: Axes, y: float, name: str, of_lesson: Sequence[Interval]) -> None:
    plate = {"boxstyle": "square,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"}
    axes.text(
        _LEFT, y, f"{name}: {score(of_lesson)}", fontsize=p.SMALL, color=p.INK, va="center",
        zorder=5, bbox=plate,
    )  # fmt: skip


def _bar(axes: Axes, y: float, interval: Interval) -> None:
    colour, dashes = (p.FINE, "solid") if interval.held else (p.CONFLICT, p.OUTSIDE_DASHES)
    left, right = _at(interval.low), _at(interval.high)
    axes.plot([left, right], [y, y], color=colour, lw=3.2, linestyle=dashes, zorder=3)
    for end, ratio in ((left, interval.low), (right, interval.high)):
        beyond = not 1 / _FARTHEST <= ratio <= _FARTHEST
        axes.scatter(
            [end], [y], s=30, color=colour, lw=1.4, zorder=4,
            marker=("<" if ratio < 1 else ">") if beyond else "|",
        )  # fmt: skip
    marker = "o" if interval.held else "X"
    axes.scatter([_at(interval.number)], [y], s=34, color=p.INK, marker=marker, lw=0, zorder=5)


def _legend(axes: Axes, y: float) -> None:
    x = _LEFT
    for held, words in ((True, "held, with your number"), (False, "did not hold")):
        colour, dashes = (p.FINE, "solid") if held else (p.CONFLICT, p.OUTSIDE_DASHES)
        axes.plot([x, x + 0.5], [y, y], color=colour, lw=3.2, linestyle=dashes)
        marker = "o" if held else "X"
        axes.scatter([x + 0.25], [y], s=34, color=p.INK, marker=marker, lw=0, zorder=5)
        axes.text(x + 0.62, y, words, fontsize=p.SMALL, color=p.INK, va="center")
        x += 2.4
    axes.text(x, y, "arrow: runs on past the edge", fontsize=p.SMALL, color=p.QUIET, va="center")
