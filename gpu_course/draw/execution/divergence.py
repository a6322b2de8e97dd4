"""A warp's walk through a kernel: line by line which lanes are at work, and who went which way."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.execution.footprint import count, ranges
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, title
from gpu_course.draw.paper.ink import CHAR, OnAxes
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import WARP, Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_ROWS = 40
"""Lines of a walk that are drawn one by one; the others are counted."""

_EDGE = 0.15
_TOP = 1.0
_ROW = 0.2
_CODE = 31
"""Characters of a line of code that have room."""
_LEFT = _EDGE + (_CODE + 4) * CHAR
_COLUMN = (p.WIDEST - _LEFT - _EDGE) / WARP
_GAP = 0.5
_GONE: dict[str, object] = {"facecolor": p.PAPER, "edgecolor": p.IDLE, "linewidth": 0.8}
_IDLE: dict[str, object] = {"facecolor": p.IDLE, "edgecolor": p.PAPER, "linewidth": 0.8}
_WORKS: dict[str, object] = {"facecolor": p.ACTIVE, "edgecolor": p.PAPER, "linewidth": 0.8}
_ELSEWHERE: dict[str, object] = {
    "facecolor": p.LATER_ACTIVE,
    "edgecolor": p.PAPER,
    "linewidth": 0.8,
}
_MARKED: dict[str, object] = {"facecolor": "none", "edgecolor": p.CONFLICT, "linewidth": 1.6}


@dataclass(frozen=True)
class Walked:
    """One line that a warp carried out.

    Attributes:
        line: its number.
        code: its text.
        active: the lanes that carried it out, ascending.
        taken: those of them that found a condition true; None where nothing was asked.
    """

    line: int
    code: str
    active: tuple[int, ...]
    taken: tuple[int, ...] | None = None

    @property
    def parted(self) -> bool:
        """True where the lanes went two ways."""
        return self.taken is not None and 0 < len(self.taken) < len(self.active)


def walk_of_warp(recording: Recording, warp: int = 0) -> tuple[Walked, ...]:
    """Returns the lines that a warp carried out, in the order in which it did.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        warp: the warp, counted over the whole grid.

    Raises:
        CourseError: the recording has no such warp.
    """
    if warp not in recording.warps:
        raise CourseError(
            f"no warp {warp} was recorded", f"choose one of {ranges(recording.warps)}"
        )
    members = recording.members(warp)

    def lanes(threads: np.ndarray) -> tuple[int, ...]:
        mine = threads[np.isin(threads, members)]
        return tuple(recording.lanes_of(mine).tolist())

    found = []
    for number in recording.track((warp,)):
        step = recording.steps[number]
        text = recording.texts[step.function].lines
        taken = None if step.taken is None else lanes(step.taken)
        code = text.get(step.line, "").split("  #")[0].rstrip()
        found.append(Walked(step.line, _dedented(code, text), lanes(step.threads), taken))
    return tuple(found)


def _dedented(code: str, lines: object) -> str:
    texts = [text for text in lines.values() if text.strip()]  # type: ignore[attr-defined]
    body = [len(text) - len(text.lstrip()) for text in texts[1:]] or [0]
    inside = [each for each in body if each]
    return code[min(inside, default=0) :]


def lanes_at_work(walk: Sequence[Walked]) -> tuple[int, int]:
    """Returns (lanes at work, added up over all lines; what a warp of 32 could do in these lines).

    >>> lanes_at_work([Walked(1, "x = 1", tuple(range(32))), Walked(2, "y = 2", (0, 1))])
    (34, 64)
    """
    return sum(len(each.active) for each in walk), WARP * len(walk)


def draw_divergence(
    recording: Recording,
    warps: Sequence[int] = (0,),
    ax: Axes | None = None,
    *,
    marked: Collection[int] = (),
    mark: str = "",
    most: int = MAX_ROWS,
) -> Figure:
    """Returns the walk of one warp or several: a row for each line carried out, a column per lane.

    Blue lanes are at work, grey ones wait: they went another way, or have left. At a condition a
    dark lane found it true and a light one false.

    Args:
        recording: of a launch, as `simt.stepping.record` makes it.
        warps: which warps, counted over the whole grid; drawn one below the other.
        ax: axes to draw on instead of a new figure.
        marked: numbers of lines whose rows are framed, and `mark` what they are.
        most: rows to draw of a walk, among them the first that is marked; the rest are counted.

    Raises:
        CourseError: the recording has no such warp.
    """
    walks = [walk_of_warp(recording, warp) for warp in warps]
    shown = [_in_view(walk, marked, most) for walk in walks]
    heights = [
        _TOP + len(few) * _ROW + _ROW * ((few.start > 0) + (few.stop < len(walk)))
        for few, walk in zip(shown, walks, strict=True)
    ]
    seen = any(
        walk[row].line in marked for few, walk in zip(shown, walks, strict=True) for row in few
    )
    height = sum(heights) + _GAP
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        top = 0.0
        for warp, walk, few, tall in zip(warps, walks, shown, heights, strict=True):
            _draw_walk(axes, recording, warp, walk, few, top, marked)
            top += tall
        asked = any(each.taken is not None for walk in walks for each in walk)
        _legend(axes, height - 0.22, asked, mark if seen else "")
    said = describe_divergence(recording, warps, marked=marked, mark=mark, most=most)
    return with_alt(figure, said)


def _in_view(walk: Sequence[Walked], marked: Collection[int], most: int) -> range:
    """Returns which rows of a walk are drawn: the first, or those around the first marked one."""
    first = next((row for row, each in enumerate(walk) if each.line in marked), 0)
    start = 0 if first < most else min(first - most // 2, len(walk) - most)
    return range(start, min(start + most, len(walk)))


def describe_divergence(
    recording: Recording,
    warps: Sequence[int] = (0,),
    *,
    marked: Collection[int] = (),
    mark: str = "",
    most: int = MAX_ROWS,
) -> str:
    """Returns in words what `draw_divergence` shows."""
    said = []
    for warp in warps:
        walk = walk_of_warp(recording, warp)
        said.append(f"{recording.kernel}, warp {warp}: {_summary(walk)}.")
        view = [walk[row] for row in _in_view(walk, marked, most)]
        for line in dict.fromkeys(each.line for each in view if each.line in marked):
            rows = [each for each in view if each.line == line]
            turns = f", {count(len(rows), 'time')}" if len(rows) > 1 else ""
            words = ", " + mark.replace(": ", " ") if mark else ""
            said.append(f"Marked is line {line}{words}{turns}: {_lanes(rows[0].active)} at work.")
        for each in view:
            if each.parted and each.taken is not None:
                no = sorted(set(each.active) - set(each.taken))
                said.append(
                    f"Line {each.line}: true in {_lanes(each.taken)}, false in {_lanes(no)}."
                )
    return " ".join(said)


def _summary(walk: Sequence[Walked]) -> str:
    work, room = lanes_at_work(walk)
    parted = sum(each.parted for each in walk)
    splits = count(parted, "split") if parted else "no split"
    return f"{count(len(walk), 'line')}, {splits}, lanes at work {work} of {room} times"


def _lanes(lanes: Sequence[int]) -> str:
    return f"lane{'s' * (len(lanes) != 1)} {ranges(lanes)}"


def _x(lane: int) -> float:
    return _LEFT + lane * _COLUMN


def _draw_walk(
    axes: Axes,
    recording: Recording,
    warp: int,
    walk: Sequence[Walked],
    shown: range,
    top: float,
    marked: Collection[int],
) -> None:
    ink = OnAxes(axes)
    name = f"{recording.kernel}, warp {warp}: which lanes are at work?"
    if top:
        axes.text(
            _EDGE, top + 0.27, name, fontsize=p.LARGE, fontweight="bold", color=p.INK, va="center"
        )
        axes.text(_EDGE, top + 0.52, _summary(walk), color=p.QUIET, va="center")
    else:
        title(axes, _EDGE, name, _summary(walk), mono=False)
    for lane in (*range(0, WARP - 3, 4), WARP - 1):
        cell_text(axes, _x(lane) + _COLUMN / 2, top + _TOP - 0.13, str(lane), p.QUIET)
    ink.mono(_EDGE, top + _TOP - 0.13, "line", p.QUIET)
    there = set(range(recording.members(warp).size))
    before = int(shown.start > 0)
    if before:
        text = f"... {count(shown.start, 'line')} before"
        ink.mono(_EDGE, top + _TOP + 0.5 * _ROW, text, p.QUIET)
    for row, number in enumerate(shown, before):
        each = walk[number]
        y = top + _TOP + (row + 0.5) * _ROW
        code = each.code if len(each.code) <= _CODE else each.code[: _CODE - 1] + "…"
        guilty = each.line in marked
        colour = p.CONFLICT if guilty else p.INK
        ink.mono(_EDGE, y, f"{each.line:>3} {code}", colour, bold=each.parted or guilty)
        _boxes(ink, sorted(set(range(WARP)) - there), y, _GONE)
        _boxes(ink, sorted(there - set(each.active)), y, _IDLE)
        yes = each.active if each.taken is None else each.taken
        _boxes(ink, yes, y, _WORKS)
        if each.taken is not None:
            no = sorted(set(each.active) - set(each.taken))
            _boxes(ink, no, y, _ELSEWHERE)
            for lane in each.active:
                word, colour = ("y", p.PAPER) if lane in each.taken else ("n", p.INK)
                cell_text(axes, _x(lane) + _COLUMN / 2, y, word, colour)
        if guilty:
            ink.boxes([_LEFT - 0.02], [y], WARP * _COLUMN + 0.04, _ROW * 0.96, _MARKED)
    if shown.stop < len(walk):
        y = top + _TOP + (before + len(shown) + 0.5) * _ROW
        ink.mono(_EDGE, y, f"... and {len(walk) - shown.stop:,} more lines", p.QUIET)


def _boxes(ink: OnAxes, lanes: Sequence[int], y: float, look: dict[str, object]) -> None:
    if lanes:
        ink.boxes([_x(lane) for lane in lanes], [y] * len(lanes), _COLUMN, _ROW * 0.9, look)


def _legend(axes: Axes, y: float, asked: bool, mark: str) -> None:
    ink = OnAxes(axes)
    entries: list[tuple[dict[str, object], str, str]] = [
        (_WORKS, "", "at work"),
        (_IDLE, "", "waits"),
    ]
    if asked:
        entries.insert(1, (_WORKS, "y", "found it true"))
        entries.insert(2, (_ELSEWHERE, "n", "found it false"))
    if mark:
        entries.append((_MARKED, "", mark))
    x = _EDGE
    for look, word, text in entries:
        wide = 0.5 + 0.085 * len(text)
        if x > _EDGE and x + wide - 0.3 > p.WIDEST:
            x, y = _EDGE, y + 0.26
            p.grow(axes, 0.26)
        ink.boxes([x], [y], _COLUMN, _ROW * 0.9, look)
        if word:
            cell_text(axes, x + _COLUMN / 2, y, word, p.PAPER if word == "y" else p.INK)
        axes.text(x + 0.2, y, text, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += wide
