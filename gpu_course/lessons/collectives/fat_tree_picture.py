"""A picture of a network: its levels, and how wide the way is between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Level:
    """One level of switches.

    Attributes:
        switches: how many.
        down, up: ports of one switch that go downwards and upwards.
        cables: that end here from below.
    """

    switches: int
    down: int
    up: int
    cables: int


MAX_LEVELS = 5
_LEFT, _TOP, _BOX, _WAY, _EDGE = 1.05, 0.95, 0.34, 0.52, 0.3


def draw_fat_tree(
    levels: Sequence[Level], gpus: int, heading: str, words: Sequence[str] = ()
) -> Figure:
    """Returns the levels above each other, and between them a way as wide as its cables.

    Args:
        levels: from the GPUs upwards, at most 5.
        gpus: below the first level.
        heading: what to see.
        words: quiet lines below the picture.

    Raises:
        CourseError: there are none, or more.
    """
    if not 1 <= len(levels) <= MAX_LEVELS:
        raise CourseError(f"a network of {len(levels)} levels", f"draw 1 to {MAX_LEVELS} levels")
    from matplotlib.patches import Polygon, Rectangle

    room = p.WIDEST - _LEFT - _EDGE
    most = max(level.cables for level in levels)
    height = _TOP + len(levels) * (_BOX + _WAY) + _BOX + 0.2 + 0.24 * len(words)
    second = "the way between two levels is as wide as its cables"
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        title(axes, _EDGE, heading, second, mono=False)
        middle = _LEFT + room / 2
        for number, level in enumerate(reversed(levels)):
            y = _TOP + number * (_BOX + _WAY)
            name = "top" if number == 0 and len(levels) > 1 else f"level {len(levels) - number}"
            row_label(axes, _LEFT - 0.14, y + _BOX / 2, name)
            wide = room * level.cables / most
            narrow = level.cables < gpus
            look = p.CONTESTED_CELL if narrow else p.READ_CELL
            corners = [
                (middle - wide / 2, y + _BOX), (middle + wide / 2, y + _BOX),
                (middle + wide / 2, y + _BOX + _WAY), (middle - wide / 2, y + _BOX + _WAY),
            ]  # fmt: skip
            axes.add_patch(Polygon(corners, zorder=2, **look))
            axes.add_patch(
                Rectangle((_LEFT, y), room, _BOX, facecolor=p.PAPER, edgecolor=p.INK, zorder=3)
            )
            ports = f"{level.down} down" + (f", {level.up} up" if level.up else "")
            said = f"{count(level.switches, 'switch')}, {ports}"
            cell_text(axes, middle, y + _BOX / 2, said, p.INK)
            cell_text(
                axes, middle, y + _BOX + _WAY / 2, count(level.cables, "cable"), p.INK, plate=True
            )
        y = _TOP + len(levels) * (_BOX + _WAY)
        axes.add_patch(
            Rectangle((_LEFT, y), room, _BOX, facecolor=p.FINE_FACE, edgecolor=p.FINE, zorder=3)
        )
        cell_text(axes, middle, y + _BOX / 2, count(gpus, "GPU"), p.INK)
        for number, line in enumerate(words):
            axes.text(
                _EDGE, y + _BOX + 0.22 + 0.24 * number, line,
                fontsize=p.NORMAL, color=p.QUIET, va="center",
            )  # fmt: skip
    return with_alt(figure, describe_fat_tree(levels, gpus, heading, words))


def describe_fat_tree(
    levels: Sequence[Level], gpus: int, heading: str, words: Sequence[str] = ()
) -> str:
    """Returns in words what `draw_fat_tree` shows."""
    lines = [f"{heading}. {count(gpus, 'GPU')}."]
    for number, level in enumerate(levels, 1):
        lines.append(
            f"Level {number}: {count(level.cables, 'cable')} from below to "
            f"{count(level.switches, 'switch')} with {level.down} ports down and "
            f"{level.up} up."
        )
    return "\n".join([*lines, *(f"{line[0].upper()}{line[1:]}." for line in words)])
