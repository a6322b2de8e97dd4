"""Tiles and the arrays they are cut from: overlapping at a halo, and in a transposition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CELLS = 32

_EDGE = 0.3
_LEFT = 1.35
_TOP = 1.0
_ROW = 0.36


def draw_halo(size: int, block: int, frame: int, ax: Axes | None = None) -> Figure:
    """Returns an array and below it, each under its own cells, the tiles of the blocks.

    Args:
        size: cells of the array.
        block: results of a block; a tile has `frame` more places on each side.
        frame: the width of the halo.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: more than 32 places, or a size below one.
    """
    if min(size, block) < 1 or frame < 0 or size + 2 * frame > MAX_CELLS:
        raise CourseError(
            f"{size} cells in blocks of {block} with a frame of {frame} cannot be drawn",
            f"give sizes of one or more, of at most {MAX_CELLS} places together",
        )
    blocks = -(-size // block)
    column = min(0.36, (p.WIDEST - _LEFT - 0.15) / (size + 2 * frame))
    height = _TOP + (blocks + 1) * _ROW + 0.62

    def x_of(cell: int) -> float:
        return _LEFT + (cell + frame + 0.5) * column

    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        legend = Legend()
        places = f"{count(block + 2 * frame, 'place')} for {count(block, 'result')}"
        title(axes, _EDGE, "Tiles with a halo overlap", f"{places} in each tile", mono=False)
        row_label(axes, _LEFT - 0.1, _TOP + _ROW / 2, "a", mono=True)
        for cell in range(size):
            square(axes, x_of(cell), _TOP + _ROW / 2, column * 0.92, p.UNTOUCHED_CELL, _ROW * 0.8)
            cell_text(axes, x_of(cell), _TOP + _ROW / 2, str(cell), p.INK)
        for number in range(blocks):
            y = _TOP + (number + 1.5) * _ROW
            row_label(axes, _LEFT - 0.1, y, f"tile of block {number}")
            first = number * block
            for cell in range(first - frame, first + block + frame):
                look: Look = p.READ_CELL
                if not 0 <= cell < size:
                    look = p.UNWRITTEN_CELL
                    legend.add("unwritten", "no cell: the place gets a 0")
                elif not first <= cell < first + block:
                    look = p.WRITTEN_CELL
                    legend.add("written_cell", "halo: a neighbour's cell")
                else:
                    legend.add("read_cell", "the block's own cell")
                if x_of(cell) - column / 2 >= _LEFT - 0.01 and cell < size + frame:
                    square(axes, x_of(cell), y, column * 0.92, look, _ROW * 0.8)
                    if 0 <= cell < size:
                        cell_text(axes, x_of(cell), y, str(cell), p.INK)
        legend.draw(axes, _EDGE, height - 0.26)
    return with_alt(figure, describe_halo(size, block, frame))


def describe_halo(size: int, block: int, frame: int) -> str:
    """Returns in words what `draw_halo` shows."""
    blocks = -(-size // block)
    said = [f"{count(blocks, 'tile')} with a halo over {count(size, 'cell')}."]
    for number in range(blocks):
        first = max(number * block - frame, 0)
        last = min((number + 1) * block + frame, size) - 1
        said.append(f"The tile of block {number} holds cells {first} to {last}.")
    twice = sum(min(2 * frame, size) for _ in range(blocks - 1))
    said.append(f"{count(twice, 'cell')} lie in two tiles." if twice else "No cell lies in two.")
    return " ".join(said)


SIDE = 8
"""Lanes and rows that a transposition is drawn with; a real warp has 32."""

_CELL = 0.2
_GAP = 0.62


def draw_transposition(ax: Axes | None = None) -> Figure:
    """Returns a transposition in which each thread writes what it read, and one through a tile.

    A warp is drawn with eight lanes. A cell says which lane is there.

    Args:
        ax: axes to draw on instead of a new figure.
    """
    across, down = [(2, k) for k in range(SIDE)], [(k, 2) for k in range(SIDE)]
    side = SIDE * _CELL
    second = _TOP + side + 1.45
    height = second + side + 1.05
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        legend = Legend()
        words = "One warp, drawn with 8 lanes; a number is the lane that touches the cell"
        title(axes, _EDGE, "A transposition, without a tile and with one", words, mono=False)
        legend.add("read_cell", "load along a row")
        legend.add("written_cell", "store along a row")
        legend.add("contested", "down a column: a row for each lane")
        top = _TOP + 0.45
        x = _grid(axes, "a[row, col]", 0.55, top, across, p.READ_CELL)
        _arrow(axes, x, top + side / 2)
        x = _grid(axes, "out[row, col]", x + _GAP, top, down, p.CONTESTED_CELL)
        for k, words in enumerate(
            ("each thread writes", "what it has read:", "one side has to go", "down a column")
        ):
            axes.text(x + 0.3, top + 0.3 + 0.24 * k, words, fontsize=p.NORMAL, color=p.INK)
        top = second + 0.45
        x = _grid(axes, "a[row, col]", 0.55, top, across, p.READ_CELL)
        _arrow(axes, x, top + side / 2)
        x = _grid(axes, "tile[row, col]", x + _GAP, top, down, p.UNTOUCHED_CELL, across)
        _arrow(axes, x, top + side / 2)
        _grid(axes, "out[row, col]", x + _GAP, top, across, p.WRITTEN_CELL)
        legend.draw(axes, _EDGE, height - 0.26)
    return with_alt(figure, describe_transposition())


def describe_transposition() -> str:
    """Returns in words what `draw_transposition` shows."""
    return (
        "Above, without a tile: the lanes of a warp read a row of a and write a column of out, "
        "each lane in a different row. Below, through a tile: the lanes bring a row of a into a "
        "row of the tile, and after the barrier take a column of the tile out into a row of out."
    )


Places = list[tuple[int, int]]


def _grid(
    axes: Axes, name: str, left: float, top: float, lanes: Places, look: Look,
    also: Places | None = None,
) -> float:  # fmt: skip
    """Draws a square array with the lanes on some of its cells; returns its right end."""
    axes.text(
        left, top - 0.3, name, fontsize=p.NORMAL, family="monospace", fontweight="bold",
        color=p.INK, va="center_baseline",
    )  # fmt: skip
    for row in range(SIDE):
        cell_text(axes, left - 0.1, top + (row + 0.5) * _CELL, str(row), p.QUIET)
        cell_text(axes, left + (row + 0.5) * _CELL, top - 0.1, str(row), p.QUIET)
        for col in range(SIDE):
            place = (row, col)
            here = look if place in lanes else p.UNTOUCHED_CELL
            if also is not None and place in also:
                here = p.WRITTEN_CELL
            if also is not None and place in lanes:
                here = p.READ_CELL
            x, y = left + (col + 0.5) * _CELL, top + (row + 0.5) * _CELL
            square(axes, x, y, _CELL * 0.94, here)
            if place in lanes or (also is not None and place in also):
                number = lanes.index(place) if place in lanes else also.index(place)  # type: ignore[union-attr]
                cell_text(axes, x, y, str(number), p.INK, plate="hatch" in here)
    return left + SIDE * _CELL


def _arrow(axes: Axes, x: float, y: float) -> None:
    axes.annotate(
        "", (x + _GAP - 0.22, y), xytext=(x + 0.08, y),
        arrowprops={"arrowstyle": "-|>", "color": p.QUIET, "lw": 1.6},
    )  # fmt: skip
