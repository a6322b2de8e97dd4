"""An SM and the blocks on it: its places for warps, and which resource lets no further block in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PER_ROW = 16

_EDGE = 0.15
_LEFT = 1.35
_TOP = 0.95
_ROW = 0.3
_BAR = 0.3
_FREE = {"facecolor": p.PAPER, "edgecolor": p.RULE, "linewidth": 0.9, "linestyle": p.OUTSIDE_DASHES}


def draw_residency(
    blocks: int,
    warps_of_block: int,
    places: int,
    limits: Mapping[str, int | None],
    ax: Axes | None = None,
) -> Figure:
    """Returns the places for warps on an SM, and below how many blocks each resource would let in.

    Args:
        blocks: resident at the same time.
        warps_of_block: warps of one block.
        places: warps that the SM can hold.
        limits: resource -> how many blocks it alone would let in; None where it sets no limit.
        ax: axes to draw on instead of a new figure.
    """
    rows = -(-places // PER_ROW)
    height = _TOP + rows * _ROW + 0.75 + len(limits) * _BAR + 0.15
    column = (p.WIDEST - _LEFT - _EDGE) / PER_ROW
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        warps = blocks * warps_of_block
        second = f"{_blocks(blocks)}, {warps} of {places} warps: {warps / places:.0%}"
        title(axes, _EDGE, "Which blocks' warps are on the SM?", second, mono=False)
        row_label(axes, _LEFT - 0.12, _TOP + _ROW / 2, "places")
        row_label(axes, _LEFT - 0.12, _TOP + 1.5 * _ROW, "for warps")
        for place in range(places):
            row, k = divmod(place, PER_ROW)
            x, y = _LEFT + (k + 0.5) * column, _TOP + (row + 0.5) * _ROW
            if place < warps:
                block = place // warps_of_block
                colour = p.BLOCK_COLOURS[block % len(p.BLOCK_COLOURS)]
                look = {"facecolor": colour, "edgecolor": p.PAPER, "linewidth": 1.0}
                square(axes, x, y, column * 0.95, look, _ROW * 0.9)
                cell_text(axes, x, y, str(block), p.ink_on(colour), weight="bold")
            else:
                square(axes, x, y, column * 0.95, _FREE, _ROW * 0.9)
        _draw_limits(axes, blocks, limits, _TOP + rows * _ROW + 0.62)
    return with_alt(figure, describe_residency(blocks, warps_of_block, places, limits))


def describe_residency(
    blocks: int, warps_of_block: int, places: int, limits: Mapping[str, int | None]
) -> str:
    """Returns in words what `draw_residency` shows."""
    warps = blocks * warps_of_block
    allowed = ", ".join(
        f"{name} {'any number' if most is None else most}" for name, most in limits.items()
    )
    deciding = " and ".join(name for name, most in limits.items() if most == blocks)
    return (
        f"{_blocks(blocks)} of {count(warps_of_block, 'warp')} on the SM: {warps} of {places} "
        f"warps, {warps / places:.0%}. Blocks that each resource lets in: {allowed}. "
        f"What decides: {deciding}."
    )


def _blocks(number: int) -> str:
    return count(number, "block") if number else "no block fits"


def _draw_limits(axes: Axes, blocks: int, limits: Mapping[str, int | None], top: float) -> None:
    from matplotlib.patches import Rectangle

    known = [most for most in limits.values() if most is not None]
    # Far above the least a bar says no more: it is cut, and its number stands beside it.
    longest = min(max(known), max(4 * blocks, 8))
    right = p.WIDEST - _EDGE - 1.15
    unit = (right - _LEFT) / longest
    axes.text(
        _LEFT, top - 0.17, "blocks that each resource alone would let in",
        fontsize=p.SMALL, color=p.QUIET, va="center_baseline",
    )  # fmt: skip
    for row, (name, most) in enumerate(limits.items()):
        y = top + (row + 0.5) * _BAR
        row_label(axes, _LEFT - 0.12, y, name)
        decides = most == blocks
        shown = longest if most is None else min(most, longest)
        look = p.WRITTEN_CELL if decides else p.UNTOUCHED_CELL
        axes.add_artist(Rectangle((_LEFT, y - 0.1), max(shown * unit, 0.02), 0.2, zorder=3, **look))
        said = "no limit" if most is None else str(most)
        if most is not None and most > longest:
            said = f"... {most}"
        said += "  decides" if decides else ""
        axes.text(
            _LEFT + shown * unit + 0.08, y, said, fontsize=p.SMALL, color=p.INK,
            fontweight="bold" if decides else "normal", va="center_baseline",
        )  # fmt: skip
    foot = top + len(limits) * _BAR
    x = _LEFT + blocks * unit
    axes.plot([x, x], [top, foot], color=p.INK, lw=1.2, linestyle=p.READ_DASHES, zorder=5)
