"""Who owns which cell: every cell of one array labelled with the thread that wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_course.draw import palette as p
from gpu_course.draw.footprint import ArrayTouches, Footprint, count, footprint, ranges
from gpu_course.draw.furniture import Legend, cell_text, square, title
from gpu_course.draw.layout import array_title, rows_columns
from gpu_course.draw.picture import with_alt
from gpu_course.errors import CourseError
from gpu_course.simt.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 1.1
_WRAP = 16
MOST_CELLS = 1024


def draw_ownership(report: Report, array: str, ax: Axes | None = None) -> Figure:
    """Returns the cells of one array, each with the block and thread that wrote it.

    A cell says "block:thread". Cells nobody wrote are dotted, cells several threads wrote are
    hatched.

    Args:
        report: of a launch of at most 4,096 lanes.
        array: the array's name in the kernel.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: the launch touched no array of that name, or it is too large to draw.
    """
    data, cells = _one(report, array)
    owners = _owners(cells)
    rows, columns = _layout(cells)
    longest = max((len(_label(data, t)) for t in owners.values() if t), default=1)
    side = min(0.62, max(0.30, 0.085 * longest + 0.1), (p.WIDEST - 2 * _EDGE - 0.3) / columns)
    height = min(side, 0.46)
    labelled = side >= 0.078 * longest
    width = max(2 * _EDGE + 0.3 + columns * side, 6.0)

    with p.style():
        figure, axes = p.sheet(width, _TOP + rows * height + 0.75, ax)
        legend = Legend()
        words = f"{array_title(array, cells.shape)}: each cell says block:thread that wrote it"
        title(axes, _EDGE, words, _summary(data, cells), mono=False)
        for cell in range(cells.size):
            row, column = divmod(cell, columns)
            x = _EDGE + 0.3 + (column + 0.5) * side
            y = _TOP + (row + 0.5) * height
            _draw_cell(axes, data, owners.get(cell, ()), x, y, side, height, labelled, legend)
            if row == 0 and (columns <= 20 or column % 4 == 0):
                cell_text(axes, x, _TOP - 0.12, str(column), p.QUIET)
            if column == 0 and rows > 1:
                first = row if len(cells.shape) > 1 else cell
                cell_text(axes, _EDGE + 0.12, y, str(first), p.QUIET)
        _draw_blocks(axes, data, owners, _TOP + rows * height + 0.25, width)
        legend.draw(axes, _EDGE, _TOP + rows * height + 0.52)
    return with_alt(figure, describe_ownership(report, array))


def describe_ownership(report: Report, array: str) -> str:
    """Returns in words what `draw_ownership` shows."""
    data, cells = _one(report, array)
    owners = _owners(cells)
    said = [f"Who wrote which cell of {array} in {data.call}: {_summary(data, cells)}."]
    for block in range(data.blocks):
        mine = [c for c, ts in owners.items() if any(t // data.block_size == block for t in ts)]
        if mine:
            said.append(f"Block {block} wrote cells {ranges(mine)}.")
    empty = [c for c in range(cells.size) if c not in owners]
    if empty:
        said.append(f"No thread wrote cells {ranges(empty)}.")
    contested = [c for c, threads in owners.items() if len(threads) > 1]
    if contested:
        said.append(f"Several threads wrote cells {ranges(contested)}.")
    return " ".join(said)


def _one(report: Report, array: str) -> tuple[Footprint, ArrayTouches]:
    data = footprint(report)
    for each in data.arrays:
        if each.name == array and each.size <= MOST_CELLS:
            return data, each
        if each.name == array:
            raise CourseError(
                f"{array} has {each.size:,} cells; the picture holds {MOST_CELLS:,}",
                "launch on smaller arrays",
            )
    names = ", ".join(a.name for a in data.arrays) or "none"
    raise CourseError(
        f"{data.kernel} touched no array called {array!r}", f"arrays it touched: {names}"
    )


def _owners(cells: ArrayTouches) -> dict[int, tuple[int, ...]]:
    """{cell: threads that wrote it}, without the cells nobody wrote."""
    found: dict[int, dict[int, None]] = {}
    for thread, cell in (*cells.writes, *cells.atomics):
        found.setdefault(cell, {})[thread] = None
    return {cell: tuple(threads) for cell, threads in found.items()}


def _layout(cells: ArrayTouches) -> tuple[int, int]:
    if len(cells.shape) > 1:
        return rows_columns(cells.shape)
    return max(1, -(-cells.size // _WRAP)), min(cells.size, _WRAP)


def _label(data: Footprint, threads: tuple[int, ...]) -> str:
    block, inside = divmod(threads[0], data.block_size)
    return f"{block}:{inside}" if len(threads) == 1 else f"×{len(threads)}"


def _summary(data: Footprint, cells: ArrayTouches) -> str:
    written = len(_owners(cells))
    return f"{written:,} of {count(cells.size, 'cell')} written, {count(data.blocks, 'block')}"


def _draw_cell(
    axes: Axes,
    data: Footprint,
    threads: tuple[int, ...],
    x: float,
    y: float,
    side: float,
    height: float,
    labelled: bool,
    legend: Legend,
) -> None:
    if not threads:
        legend.add("unwritten", "no thread wrote it")
        square(axes, x, y, side * 0.94, p.UNWRITTEN_CELL, height * 0.92)
        return
    contested = len(threads) > 1
    colour = _colour(threads[0] // data.block_size)
    look: dict[str, Any] = {"facecolor": colour, "edgecolor": p.PAPER, "linewidth": 0.8}
    ink = p.ink_on(colour)
    if contested:
        legend.add("contested", "written by several threads")
        look, ink = p.CONTESTED_CELL, p.INK
    square(axes, x, y, side * 0.94, look, height * 0.92)
    if labelled:
        cell_text(axes, x, y, _label(data, threads), ink, plate=contested)


def _colour(block: int) -> str:
    return p.BLOCK_COLOURS[block % len(p.BLOCK_COLOURS)]


def _draw_blocks(
    axes: Axes, data: Footprint, owners: dict[int, tuple[int, ...]], y: float, width: float
) -> None:
    x = _EDGE
    for block in sorted({t // data.block_size for ts in owners.values() for t in ts}):
        text = f"block {block}"
        if x + 1.2 > width - _EDGE:
            axes.text(
                x + 0.1, y, "and so on", fontsize=p.SMALL, color=p.QUIET, va="center_baseline"
            )
            return
        square(axes, x + 0.18, y, 0.2, {"facecolor": _colour(block), "linewidth": 0})
        axes.text(x + 0.38, y, text, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.38 + 0.08 * len(text) + 0.2
