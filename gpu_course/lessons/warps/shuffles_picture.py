"""Shuffles of one warp, step by step: what each lane holds, and from whom it gets something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.execution.footprint import count, ranges
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.15
_LEFT = 1.12
_TOP = 1.05
_ROW = 0.27
_BETWEEN = 0.52
_DIGIT = p.SMALL * 0.64 / 72
FEW = 16
"""Lanes that are shown where the values of all 32 have no room."""


@dataclass(frozen=True)
class ShuffleStep:
    """One shuffle, and what came of it.

    Attributes:
        line: its line.
        sources: lane -> the lane it read from.
        before: lane -> what the lane brought.
        after: lane -> what the lane's variable holds once the line is done.
    """

    line: int
    sources: dict[int, int]
    before: dict[int, Any]
    after: dict[int, Any]


def shuffles_of_warp(recording: Recording, variable: str, warp: int = 0) -> tuple[ShuffleStep, ...]:
    """Returns the shuffles of a warp in order, with what a variable holds after each of them.

    What is fetched may be added in a later line: the variable is read just before the next shuffle,
    or at the end of the kernel.

    Args:
        recording: of a launch; the variable is one of those it keeps.
        variable: its name in the kernel.
        warp: which warp, counted over the whole grid.

    Raises:
        CourseError: the warp did not shuffle, or the variable was not recorded.
    """
    members = recording.members(warp)
    place = {int(thread): k for k, thread in enumerate(recording.threads.tolist())}
    steps = [recording.steps[number] for number in recording.track((warp,))]
    at = [
        number
        for number, step in enumerate(steps)
        if any(each.sources is not None for each in step.exchanges)
    ]
    if not at:
        raise CourseError(
            f"warp {warp} of {recording.kernel} did not shuffle", "record a kernel that does"
        )
    if not any(variable in step.held for step in steps):
        known = dict.fromkeys(name for step in steps for name in step.held)
        raise CourseError(
            f"{variable} was not recorded", f"record it, or choose {', '.join(known) or 'another'}"
        )
    found = []
    for number, following in zip(at, [*at[1:], len(steps)], strict=True):
        exchange = next(e for e in steps[number].exchanges if e.sources is not None)
        mine = np.isin(exchange.threads, members)
        lanes = recording.lanes_of(exchange.threads[mine]).tolist()
        assert exchange.sources is not None
        held = next(s.held[variable] for s in steps[following - 1 :: -1] if variable in s.held)
        after = {
            lane: held.values[place[int(members[lane])]]
            for lane in lanes
            if held.known[place[int(members[lane])]]
        }
        found.append(
            ShuffleStep(
                steps[number].line,
                dict(zip(lanes, exchange.sources[mine].tolist(), strict=True)),
                dict(zip(lanes, exchange.sent[mine].tolist(), strict=True)),
                after,
            )
        )
    return tuple(found)


def behind(steps: Sequence[ShuffleStep], lane: int) -> list[set[int]]:
    """Returns for each row, the first values first, the lanes that a lane's result is made of.

    >>> one = ShuffleStep(1, {0: 1, 1: 0}, {0: 5, 1: 6}, {0: 11, 1: 11})
    >>> behind([one], 0)
    [{0, 1}, {0}]
    """
    rows = [{lane}]
    for step in reversed(steps):
        rows.append(rows[-1] | {step.sources[each] for each in rows[-1] if each in step.sources})
    return rows[::-1]


def draw_shuffles(
    recording: Recording,
    variable: str,
    warp: int = 0,
    follow: int | None = None,
    lanes: int | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Returns the values of a warp's lanes before and after each shuffle, and who read from whom.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        variable: what the lanes shuffle and change.
        warp: which warp, counted over the whole grid.
        follow: a lane whose result is traced back to the lanes it is made of.
        lanes: how many lanes to show; default all, or 16 where the values of all have no room.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: the warp did not shuffle, or the variable was not recorded.
    """
    steps = shuffles_of_warp(recording, variable, warp)
    there = len(steps[0].before)
    rows = [steps[0].before, *(step.after for step in steps)]
    texts = [{lane: value_text(value) for lane, value in row.items()} for row in rows]
    longest = max(len(text) for row in texts for text in row.values())
    shown = lanes or there
    room = p.WIDEST - _LEFT - _EDGE
    if lanes is None and longest * _DIGIT > room / there * 0.98:
        shown = min(there, FEW)
    column = min(0.5, room / shown)
    height = _TOP + len(rows) * _ROW + len(steps) * _BETWEEN + 0.5
    traced = behind(steps, follow) if follow is not None else [set() for _ in rows]
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        of_all = "" if shown == there else f"lanes 0 to {shown - 1} of {there}, "
        second = f"{of_all}{count(len(steps), 'shuffle')}"
        if follow is not None:
            second += f"; lane {follow} has {count(len(traced[0]), 'number')} in it"
        title(axes, _EDGE, f"{recording.kernel}: {variable} in warp {warp}", second, mono=False)
        row_label(axes, _LEFT - 0.1, _TOP - 0.17, "lane")
        for lane in range(0, shown, 1 if column > 0.3 else 2):
            cell_text(axes, _x(lane, column), _TOP - 0.17, str(lane), p.QUIET)
        for number, row in enumerate(texts):
            y = _y(number)
            label = "at first" if number == 0 else f"line {steps[number - 1].line}"
            row_label(axes, _LEFT - 0.1, y, label)
            for lane in range(shown):
                if lane in row:
                    look = p.READ_CELL if lane in traced[number] else p.UNTOUCHED_CELL
                    square(axes, _x(lane, column), y, column * 0.92, look, _ROW)
                    roomy = len(row[lane]) * _DIGIT < 0.8 * column
                    weight = "bold" if lane in traced[number] and roomy else "normal"
                    cell_text(axes, _x(lane, column), y, row[lane], p.INK, weight=weight)
        for number, step in enumerate(steps):
            row_label(axes, _LEFT - 0.1, _y(number) + (_ROW + _BETWEEN) / 2, distance(step.sources))
            for lane, source in step.sources.items():
                if lane < shown and follow is not None and lane in traced[number + 1]:
                    _arrow(axes, lane, lane, column, number, shown, "own")
                if lane < shown and source != lane:
                    on_way = follow is None or lane in traced[number + 1]
                    kind = "fetched" if on_way else "beside"
                    _arrow(axes, source, lane, column, number, shown, kind)
        _legend(axes, height - 0.2, follow is not None)
    return with_alt(figure, describe_shuffles(recording, variable, warp, follow))


def describe_shuffles(
    recording: Recording, variable: str, warp: int = 0, follow: int | None = None
) -> str:
    """Returns in words what `draw_shuffles` shows."""
    steps = shuffles_of_warp(recording, variable, warp)
    said = [f"{recording.kernel}: {variable} in warp {warp}, {count(len(steps), 'shuffle')}."]
    if steps:
        said.append(f"At first {_all_hold(steps[0].before)}.")
    for number, step in enumerate(steps, 1):
        after = _all_hold(step.after)
        said.append(f"Step {number}, {distance(step.sources)}: then {after}.")
    if follow is not None:
        first = sorted(behind(steps, follow)[0])
        word = "lane" if len(first) == 1 else "lanes"
        said.append(f"Lane {follow} ends with the numbers of {word} {ranges(first)}.")
    return " ".join(said)


def _all_hold(values: Mapping[int, Any]) -> str:
    held = [value_text(value) for _, value in sorted(values.items())]
    alike = f"all lanes hold {held[0]}" if len(set(held)) == 1 else ""
    return alike or f"the lanes hold {', '.join(held)}"


def distance(sources: dict[int, int]) -> str:
    """Returns in two words from where the lanes of a shuffle read.

    >>> distance({0: 2, 1: 3, 2: 2}), distance({0: 1, 1: 0}), distance({0: 0, 1: 0})
    ('from lane+2', 'bit 1 flipped', 'from lane 0')
    """
    moved = {lane: source for lane, source in sources.items() if source != lane}
    apart = {source - lane for lane, source in moved.items()}
    flipped = {source ^ lane for lane, source in moved.items()}
    if len(flipped) == 1 and len(apart) != 1:
        return f"bit {flipped.pop()} flipped"
    if len(set(sources.values())) == 1:
        return f"from lane {next(iter(sources.values()))}"
    if len(apart) == 1:
        return f"from lane{apart.pop():+d}"
    return "from its own" if not moved else "from others"


def value_text(value: Any) -> str:
    """Returns a value as a cell has room for it.

    >>> value_text(3.0), value_text(-0.125), value_text(124.5), value_text(float("-inf"))
    ('3', '-0.1', '124', '-inf')
    """
    number = float(value)
    if not np.isfinite(number):
        return str(number)
    if number == int(number) and abs(number) < 10_000:
        return str(int(number))
    digits = 1 if abs(number) < 10 else 0
    return f"{number:.{digits}f}" if abs(number) < 10_000 else f"{number:.0e}"


def _x(lane: int, column: float) -> float:
    return _LEFT + (lane + 0.5) * column


def _y(row: int) -> float:
    return _TOP + (row + 0.5) * _ROW + row * _BETWEEN


def _arrow(
    axes: Axes, source: int, lane: int, column: float, row: int, shown: int, kind: str
) -> None:
    colour = {"fetched": p.ACTIVE, "own": p.QUIET, "beside": p.IDLE}[kind]
    width = {"fetched": 1.3, "own": 1.1, "beside": 0.7}[kind]
    order = {"fetched": 3, "own": 2.5, "beside": 2}[kind]
    top, foot = _y(row) + _ROW / 2, _y(row + 1) - _ROW / 2
    # One that comes from beyond the lanes shown is cut where the picture ends.
    from_x, right = _x(source, column), _LEFT + shown * column
    to_x = _x(lane, column)
    if from_x > right:
        top += (from_x - right) / (from_x - to_x) * (foot - top)
        from_x = right
    dashes = p.READ_DASHES if kind == "own" else "solid"
    axes.plot(
        [from_x, to_x], [top, foot - 0.03], color=colour, lw=width, zorder=order, linestyle=dashes
    )
    axes.scatter([to_x], [foot - 0.03], marker="v", s=9, color=colour, lw=0, zorder=order)


def _legend(axes: Axes, y: float, followed: bool) -> None:
    x = _EDGE
    entries: list[tuple[str, Any, str]] = [(p.ACTIVE, "solid", "reads from that lane")]
    if followed:
        entries += [(p.QUIET, p.READ_DASHES, "its own value"), (p.IDLE, "solid", "other lanes")]
    for colour, dashes, text in entries:
        axes.plot([x, x + 0.3], [y, y], color=colour, lw=1.4, linestyle=dashes)
        axes.text(x + 0.38, y, text, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.75 + 0.08 * len(text)
