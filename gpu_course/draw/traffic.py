"""The communication matrix: from which rank to which other how many bytes go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from gpu_course.units import format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_RANKS = 8


def draw_traffic(
    sent: Mapping[tuple[int, int], int], ranks: int, name: str, ax: Axes | None = None
) -> Figure:
    """Returns the communication matrix: bytes from each rank to each other, and each rank's sum.

    Args:
        sent: {(from, to): bytes}.
        ranks: how many there are, at most 8.
        name: what was counted.
        ax: axes to draw on instead of a new figure.
    """
    from matplotlib import colormaps

    if ranks > MAX_RANKS:
        raise CourseError(f"{ranks} ranks", f"draw at most {MAX_RANKS}")
    cell, top = 0.62, 1.3
    left = 1.2
    most = max([*sent.values(), 1])
    shades = colormaps[p.MAGNITUDE]
    with p.style():
        figure, axes = p.sheet(p.WIDEST, top + ranks * cell * 0.72 + 0.3, ax)
        total = sum(sent.values())
        words = f"{format_bytes(total)} between {count(ranks, 'rank')}"
        title(axes, 0.3, f"{name}: who sends whom how much", words, mono=False)
        cell_text(axes, left - 0.45, top - 0.2, "from \\ to", p.QUIET)
        for rank in range(ranks):
            y = top + (rank + 0.5) * cell * 0.72
            cell_text(axes, left + (rank + 0.5) * cell, top - 0.2, str(rank), p.INK)
            row_label(axes, left - 0.14, y, f"rank {rank}")
            for other in range(ranks):
                bytes_ = sent.get((rank, other), 0)
                shade = shades(0.15 + 0.85 * bytes_ / most) if bytes_ else p.PAPER
                look = {"facecolor": shade, "edgecolor": p.RULE, "linewidth": 0.8}
                x = left + (other + 0.5) * cell
                square(axes, x, y, cell * 0.96, look, cell * 0.68)
                words = short_bytes(bytes_) if bytes_ else ""
                cell_text(axes, x, y, words, p.ink_on(shade))
            mine = sum(b for (source, _), b in sent.items() if source == rank)
            axes.text(
                left + ranks * cell + 0.2, y, f"sends {format_bytes(mine)}", fontsize=p.SMALL,
                color=p.INK, va="center_baseline",
            )  # fmt: skip
    return with_alt(figure, describe_traffic(sent, ranks, name))


def describe_traffic(sent: Mapping[tuple[int, int], int], ranks: int, name: str) -> str:
    """Returns in words what `draw_traffic` shows."""
    lines = [f"{name}: who sends whom how much."]
    for rank in range(ranks):
        own = {to: b for (source, to), b in sorted(sent.items()) if source == rank and b}
        to = ", ".join(f"{format_bytes(b)} to {other}" for other, b in own.items())
        lines.append(f"Rank {rank} sends {to or 'nothing'}.")
    return "\n".join(lines)


def short_bytes(bytes_: int) -> str:
    """Returns a number of bytes in at most five characters.

    >>> short_bytes(6 * 2**20)
    '6M'
    """
    for unit, size in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if bytes_ >= size:
            return f"{bytes_ / size:.3g}{unit}"
    return str(bytes_)
