"""Pictures of failures: goodput over the interval, where a job's time went, what was promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_UNITS = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


def duration(seconds: float) -> str:
    """Returns a time in days, hours, minutes or seconds.

    >>> duration(5400), duration(90), duration(3.5 * 86_400), duration(0.5)
    ('1.5 h', '1.5 min', '3.5 d', '0.5 s')
    """
    unit, size = next((each for each in _UNITS if seconds >= each[1]), _UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


_LOOKS: dict[str, dict[str, Any]] = {
    "training": {"facecolor": p.FINE},
    "slowed": {"facecolor": p.FINE_FACE, "hatch": "...."},
    "writing": {"facecolor": p.WRITE},
    "lost": {"facecolor": p.CONFLICT, "hatch": p.CONFLICT_HATCH},
    "restarting": {"facecolor": p.STATES},
    "waiting for a node": {"facecolor": p.IDLE},
}
"""How each use of a job's time is drawn."""


@dataclass(frozen=True)
class Goodputs:
    """Shares of useful time over the interval.

    Attributes:
        intervals_s: that were simulated, ascending.
        found: for each, the goodput of each simulated job.
        formula: (interval_s, goodput) of the expectation, ascending; empty where none is known.
        marks: {name: interval_s} of rules to be drawn in.
        name: of the job.
    """

    intervals_s: tuple[float, ...]
    found: tuple[tuple[float, ...], ...]
    formula: tuple[tuple[float, float], ...]
    marks: dict[str, float]
    name: str


_MARGINS = (0.72, 0.62, 0.3, 0.42)
_RULES = ((p.INK, "-"), (p.CONTRAST, (0, (4, 2))))


def draw_goodputs(data: Goodputs, ax: Axes | None = None) -> Figure:
    """Returns goodput over the interval: simulated jobs as dots, the expectation as a line.

    Args:
        data: of one job with many intervals.
        ax: axes to draw on instead of a new figure.
    """
    means = [sum(each) / len(each) for each in data.found]
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.6, (0.72, 0.94, 0.3, 0.42))
        for interval, each in zip(data.intervals_s, data.found, strict=True):
            axes.plot([interval] * len(each), [100 * g for g in each], ".", color=p.READ, ms=5)
        axes.plot(data.intervals_s, [100 * g for g in means], "o", color=p.ACTIVE, ms=5,
                  label="simulated, mean (small: each job)")  # fmt: skip
        if data.formula:
            x, y = zip(*data.formula, strict=True)
            axes.plot(
                x, [100 * g for g in y], color=p.FINE, lw=1.6, label="expected, spares enough"
            )
        for (name, at), (colour, dashes) in zip(data.marks.items(), _RULES, strict=False):
            axes.axvline(at, color=colour, lw=1.2, linestyle=dashes, label=name)
        axes.set_xscale("log")
        axes.set_xticks(*_ticks(data.intervals_s))
        axes.set_xticks([], minor=True)
        axes.set_xlim(data.intervals_s[0] / 1.2, data.intervals_s[-1] * 1.2)
        axes.set_ylim(max(0.0, 100 * min(means) - 8), 101)
        axes.set_xlabel("training between two checkpoints")
        axes.set_ylabel("goodput, %")
        figure.legend(loc="lower left", fontsize=p.SMALL, frameon=False, ncols=4)
        p.headline(axes, data.name)
    return with_alt(figure, describe_goodputs(data))


def _ticks(intervals_s: Sequence[float]) -> tuple[list[float], list[str]]:
    nice = [10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 48 * 3600]
    found = [float(s) for s in nice if intervals_s[0] / 1.2 <= s <= intervals_s[-1] * 1.2]
    return found, [duration(s) for s in found]


def describe_goodputs(data: Goodputs) -> str:
    """Returns in words what `draw_goodputs` shows."""
    means = [sum(each) / len(each) for each in data.found]
    best = max(range(len(means)), key=means.__getitem__)
    lines = [f"{data.name}. Goodput over the training between two checkpoints, simulated:"]
    lines += [
        f"{duration(interval)}: {mean:.1%}."
        for interval, mean in zip(data.intervals_s, means, strict=True)
    ]
    lines.append(f"The highest of these is at {duration(data.intervals_s[best])}.")
    lines += [f"{name}: {duration(at)}." for name, at in data.marks.items()]
    return "\n".join(lines)


@dataclass(frozen=True)
class Spent:
    """Where the time of a job went.

    Attributes:
        name: of the job.
        seconds: {use: seconds}, keys of the ledger's USES.
        events: how many there were of each kind, the most frequent first.
    """

    name: str
    seconds: dict[str, float]
    events: dict[str, int]


def draw_spent(jobs: Sequence[Spent], ax: Axes | None = None) -> Figure:
    """Returns a bar for each job: training, and all that was none.

    Args:
        jobs: one to six.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        margins = (1.55, 0.94, 0.3, 0.42)
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 1.4 + 0.42 * len(jobs), margins)
        for row, job in enumerate(jobs):
            whole, left = sum(job.seconds.values()), 0.0
            for use, look in _LOOKS.items():
                share = 100 * job.seconds.get(use, 0.0) / whole
                axes.barh(row, share, 0.62, left, edgecolor=p.INK, linewidth=0.6, label=use
                          if not row else None, **look)  # fmt: skip
                left += share
            good = 100 * job.seconds["training"] / whole
            words = axes.text(good / 2, row, f"{good:.1f} %", ha="center", va="center_baseline",
                              fontsize=p.NORMAL, color=p.ink_on(p.FINE))  # fmt: skip
            words.set_visible(good > 14)
        axes.set_yticks(range(len(jobs)), [job.name for job in jobs])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of the job's time, %")
        figure.legend(loc="lower left", fontsize=p.SMALL, frameon=False, ncols=6,
                      columnspacing=1.0, handlelength=1.4)  # fmt: skip
        p.headline(axes, "What the time went to")
    return with_alt(figure, describe_spent(jobs))


def describe_spent(jobs: Sequence[Spent]) -> str:
    """Returns in words what `draw_spent` shows."""
    lines = ["What the time of jobs went to."]
    for job in jobs:
        whole = sum(job.seconds.values())
        shares = ", ".join(f"{use} {s / whole:.1%}" for use, s in job.seconds.items() if s)
        events = ", ".join(f"{kind} {n}" for kind, n in job.events.items() if n)
        lines.append(f"{job.name}: {shares}. Events: {events or 'none'}.")
    return "\n".join(lines)


@dataclass(frozen=True)
class Contour:
    """Pairs that give one goodput.

    Attributes:
        name: of the goodput.
        stops_s, restarts_s: the pairs, stops ascending.
    """

    name: str
    stops_s: tuple[float, ...]
    restarts_s: tuple[float, ...]


def draw_contours(contours: Sequence[Contour], mtbf_s: float, ax: Axes | None = None) -> Figure:
    """Returns for each goodput the writes and restarts that give it, at the best interval.

    Args:
        contours: at most two.
        mtbf_s: between failures of the job, for the heading.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.3, _MARGINS)
        for contour, (colour, dashes) in zip(
            contours, ((p.CONFLICT, "-"), (p.FINE, (0, (4, 2)))), strict=False
        ):
            axes.plot(contour.stops_s, [each / 60 for each in contour.restarts_s], color=colour,
                      lw=2, linestyle=dashes, label=contour.name)  # fmt: skip
        axes.set_xscale("log")
        stops = [s for s in (1.0, 3.0, 10.0, 30.0, 60.0, 180.0) if s <= contours[0].stops_s[-1]]
        axes.set_xticks(stops, [duration(s) for s in stops])
        axes.set_xticks([], minor=True)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("a checkpoint stops the job for")
        axes.set_ylabel("restart, minutes")
        axes.legend(loc="upper right", fontsize=p.SMALL, frameon=False)
        p.headline(axes, f"One failure in {duration(mtbf_s)}, the best interval")
    return with_alt(figure, describe_contours(contours, mtbf_s))


def describe_contours(contours: Sequence[Contour], mtbf_s: float) -> str:
    """Returns in words what `draw_contours` shows."""
    lines = [f"One failure in {duration(mtbf_s)}, at the best interval between checkpoints."]
    for each in contours:
        first, last = each.restarts_s[0], each.restarts_s[-1]
        lines.append(
            f"{each.name}: a restart may take {first / 60:.1f} minutes where a checkpoint stops "
            f"the job for {duration(each.stops_s[0])}, and {last / 60:.1f} minutes where it stops "
            f"it for {duration(each.stops_s[-1])}."
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Longest:
    """The longest runs between restarts, and what chance makes of as many.

    Attributes:
        runs: how many there were.
        mean_days: of one.
        seen_days: of the longest ones, the longest first.
        low, middle, high: for each of these ranks, the days of the 5th, 50th and 95th of a hundred.
    """

    runs: int
    mean_days: float
    seen_days: tuple[float, ...]
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]


def draw_longest(data: Longest, ax: Axes | None = None) -> Figure:
    """Returns the longest runs as they were, over the range in which chance puts nine of ten.

    Args:
        data: of a few ranks.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        margins = (1.35, 0.62, 0.3, 0.42)
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 1.55 + 0.4 * len(data.seen_days), margins)
        for row, seen in enumerate(data.seen_days):
            low, middle, high = data.low[row], data.middle[row], data.high[row]
            axes.barh(row, high - low, 0.5, low, facecolor=p.READ_TINT, edgecolor=p.READ,
                      label="nine of ten by chance" if not row else None)  # fmt: skip
            axes.plot([middle, middle], [row - 0.25, row + 0.25], color=p.ACTIVE, lw=2,
                      label="half are longer" if not row else None)  # fmt: skip
            axes.plot(seen, row, "D", color=p.WRITE, mec=p.INK, ms=7,
                      label="in the logbook" if not row else None)  # fmt: skip
        axes.set_yticks(range(len(data.seen_days)), _places(len(data.seen_days)))
        axes.invert_yaxis()
        axes.set_xlim(0, max(*data.high, *data.seen_days) * 1.1)
        axes.set_ylim(len(data.seen_days) - 0.4, -0.6)
        axes.set_xlabel("days without a restart")
        axes.legend(loc="lower right", fontsize=p.SMALL, frameon=False)
        p.headline(
            axes, f"The longest of {data.runs} runs of {24 * data.mean_days:.0f} h on average"
        )
    return with_alt(figure, describe_longest(data))


def _places(number: int) -> list[str]:
    return ["the longest", *("the second", "the third", "the fourth", "the fifth")][:number]


def describe_longest(data: Longest) -> str:
    """Returns in words what `draw_longest` shows."""
    lines = [f"The longest of {data.runs} runs that last {24 * data.mean_days:.0f} h on average."]
    places = _places(len(data.seen_days))
    for place, seen, low, high in zip(places, data.seen_days, data.low, data.high, strict=True):
        lines.append(
            f"{place}: {seen:g} days in the logbook; by chance {low:.1f} to {high:.1f} in nine of "
            "ten."
        )
    return "\n".join(lines)
