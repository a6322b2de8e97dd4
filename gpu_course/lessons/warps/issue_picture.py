"""What a scheduler of an SM does clock by clock: whose instruction is issued, and when none is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.15
_LEFT = 0.95
_TOP = 1.0
_ROW = 0.24


def draw_issue(
    slots: Sequence[int | None], warps: int, latency: int, ax: Axes | None = None
) -> Figure:
    """Returns a row for each warp and a column for each clock.

    A blue place is a clock in which the warp issued an instruction, a light one a clock in which
    one of its results was still on the way. The last row shows the clocks in which nobody issued.

    Args:
        slots: for each clock the warp that issued, or None.
        warps: how many there are.
        latency: clocks until a result can be used.
        ax: axes to draw on instead of a new figure.
    """
    clocks = len(slots)
    column = (p.WIDEST - _LEFT - _EDGE) / clocks
    height = _TOP + (warps + 1) * _ROW + 0.6
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, _EDGE, "Who issues an instruction?", _summary(slots), mono=False)
        row_label(axes, _LEFT - 0.1, _TOP - 0.15, "clock")
        for clock in range(0, clocks, 4):
            cell_text(axes, _LEFT + (clock + 0.5) * column, _TOP - 0.15, str(clock), p.QUIET)
        for warp in range(warps):
            y = _TOP + (warp + 0.5) * _ROW
            row_label(axes, _LEFT - 0.1, y, f"warp {warp}")
            for clock, slot in enumerate(slots):
                waits = any(each == warp for each in slots[max(0, clock - latency + 1) : clock])
                square(axes, _LEFT + (clock + 0.5) * column, y, column * 0.92,
                       _look(slot == warp, waits), _ROW * 0.86)  # fmt: skip
        y = _TOP + (warps + 0.55) * _ROW
        row_label(axes, _LEFT - 0.1, y, "nobody")
        for clock, slot in enumerate(slots):
            if slot is None:
                square(axes, _LEFT + (clock + 0.5) * column, y, column * 0.92,
                       p.CONTESTED_CELL, _ROW * 0.86)  # fmt: skip
        _legend(axes, height - 0.2)
    return with_alt(figure, describe_issue(slots, warps, latency))


def describe_issue(slots: Sequence[int | None], warps: int, latency: int) -> str:
    """Returns in words what `draw_issue` shows."""
    return f"{count(warps, 'warp')}, a result takes {count(latency, 'clock')}: {_summary(slots)}."


def _summary(slots: Sequence[int | None]) -> str:
    busy = sum(slot is not None for slot in slots)
    return f"an instruction in {busy} of {len(slots)} clocks"


def _look(issues: bool, waits: bool) -> dict[str, object]:
    if issues:
        return {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 0.8}
    if waits:
        return {"facecolor": p.LATER_ACTIVE, "edgecolor": p.PAPER, "linewidth": 0.8}
    return {"facecolor": p.PAPER, "edgecolor": p.IDLE, "linewidth": 0.8}


def _legend(axes: Axes, y: float) -> None:
    x = _EDGE
    entries = [
        (_look(True, False), "issues an instruction"),
        (_look(False, True), "waits for a result"),
        (p.CONTESTED_CELL, "a lost clock"),
    ]
    for look, text in entries:
        square(axes, x + 0.1, y, 0.18, look, _ROW * 0.8)
        axes.text(x + 0.28, y, text, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.6 + 0.08 * len(text)
