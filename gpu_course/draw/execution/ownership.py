"""Who owns which cell: every cell of one array labelled with the thread that wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.execution.footprint import (
    ArrayTouches,
    Footprint,
    Pair,
    count,
    footprint,
    ranges,
)
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, cell_text, square, title
from gpu_course.draw.paper.layout import array_title, rows_columns
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 1.1
_WRAP = 16
MAX_CELLS = 1024
WINDOW_CELLS, WINDOW_ROWS, WINDOW_COLUMNS = 64, 8, 12


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
        who = "says block:thread" if labelled else "has the colour of the block"
        words = f"{array_title(array, cells.shape)}: each cell {who} that wrote it"
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


@dataclass(frozen=True)
class Trouble:
    """What is the matter with an array, and where.

    Attributes:
        array: its name in the kernel.
        cell: the flat number of the cell to look at first; beyond the array where it was missed.
        words: what is the matter, in a few words.
        marked: flat numbers of the cells that are wrong, and `mark` what they are.
        block: the number of the block whose array it is, where each block has one.
    """

    array: str
    cell: int
    words: str
    marked: frozenset[int] = frozenset()
    mark: str = "wrong"
    block: int = 0


def draw_around(report: Report, trouble: Trouble, ax: Axes | None = None) -> Figure:
    """Returns the cells around the first that is wrong, each with the thread that touched it.

    Of a large array a window is drawn, a few rows of a table or WINDOW_CELLS of a vector. A cell
    says "block:thread", of who wrote it, and of who read it where the kernel only reads the array;
    in an array of one block it says the thread alone. Where neither fits, colours say the block.

    Args:
        report: of a launch of at most 4,096 lanes.
        trouble: the array, and what is wrong with it.
        ax: axes to draw on instead of a new figure.
    """
    data, cells = _find(report, trouble.array, trouble.block)
    owners, verb = _owners(cells), "wrote"
    if not cells.is_written:
        owners, verb = _by_cell(cells.reads), "read"
    rows = _window(cells, trouble.cell)
    alone = cells.of.startswith("block")
    longest = max((len(_label(data, t, alone)) for t in owners.values()), default=1)
    side = min(0.62, max(0.30, 0.085 * longest + 0.1), (p.WIDEST - 2 * _EDGE - 0.5) / len(rows[0]))
    height = min(side, 0.4)
    labelled = side >= 0.078 * longest
    left, tall = _EDGE + 0.4, _TOP + len(rows) * height
    width = max(left + _EDGE + len(rows[0]) * side, 6.6)
    whole = f" of {cells.of}" if cells.of else ""
    with p.style():
        figure, axes = p.sheet(width, tall + 0.75, ax)
        legend = Legend()
        who = "says the thread" if alone else "says block:thread"
        who = who if labelled else "has the colour of the block"
        words = f"{trouble.array}{whole}: each cell {who} that {verb} it"
        title(axes, _EDGE, words, trouble.words, mono=False)
        for row, numbers in enumerate(rows):
            y = _TOP + (row + 0.5) * height
            across = rows_columns(cells.shape)[1] if len(cells.shape) > 1 else 0
            first = numbers[0] // across if across else numbers[0]
            cell_text(axes, _EDGE + 0.15, y, str(first), p.QUIET)
            for column, cell in enumerate(numbers):
                x = left + (column + 0.5) * side
                if row == 0:
                    number = cell % across if across else column
                    cell_text(
                        axes, x, _TOP - 0.12, str(number) if across else f"+{number}", p.QUIET
                    )
                marked = trouble.mark if cell in trouble.marked else ""
                look = (x, y, side, height, labelled, legend, verb, marked, alone)
                _draw_cell(axes, data, owners.get(cell, ()), *look)
        shown = {cell: owners[cell] for numbers in rows for cell in numbers if cell in owners}
        _draw_blocks(axes, data, shown, tall + 0.25, width)
        legend.draw(axes, _EDGE, tall + 0.52)
    return with_alt(figure, describe_around(report, trouble))


def describe_around(report: Report, trouble: Trouble) -> str:
    """Returns in words what `draw_around` shows."""
    data, cells = _find(report, trouble.array, trouble.block)
    shown = [cell for row in _window(cells, trouble.cell) for cell in row]
    said = [
        f"{data.call}: {trouble.words}.",
        f"Shown are cells {ranges(shown)} of {trouble.array}, in the order of memory.",
    ]
    if marked := [cell for cell in shown if cell in trouble.marked]:
        said.append(f"{trouble.mark.capitalize()}: cells {ranges(marked)}.")
    touched = _owners(cells) if cells.is_written else _by_cell(cells.reads)
    if empty := [cell for cell in shown if cell not in touched]:
        verb = "wrote" if cells.is_written else "read"
        said.append(f"No thread {verb} cells {ranges(empty)}.")
    return " ".join(said)


def _window(cells: ArrayTouches, cell: int) -> list[range]:
    """Returns the cells to show, a range for each row of the picture."""
    cell = max(0, min(cell, cells.size - 1))
    if len(cells.shape) < 2:
        lines = -(-cells.size // _WRAP)
        first = max(0, min(cell // _WRAP - 1, lines - WINDOW_CELLS // _WRAP))
        starts = range(first * _WRAP, min(lines, first + WINDOW_CELLS // _WRAP) * _WRAP, _WRAP)
        return [range(start, min(start + _WRAP, cells.size)) for start in starts]
    rows, columns = rows_columns(cells.shape)
    row, column = divmod(cell, columns)
    top = max(0, min(row - 2, rows - WINDOW_ROWS))
    left = max(0, min(column - 3, columns - WINDOW_COLUMNS))
    wide = min(columns - left, WINDOW_COLUMNS)
    return [
        range(r * columns + left, r * columns + left + wide)
        for r in range(top, min(rows, top + WINDOW_ROWS))
    ]


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
    data, cells = _find(report, array)
    if cells.size > MAX_CELLS:
        raise CourseError(
            f"{array} has {cells.size:,} cells; the picture holds {MAX_CELLS:,}",
            "launch on smaller arrays",
        )
    return data, cells


def _find(report: Report, array: str, block: int = 0) -> tuple[Footprint, ArrayTouches]:
    data = footprint(report, block=block)
    for each in data.arrays:
        if each.name == array:
            return data, each
    names = ", ".join(a.name for a in data.arrays) or "none"
    raise CourseError(
        f"{data.kernel} touched no array called {array!r}", f"arrays it touched: {names}"
    )


def _owners(cells: ArrayTouches) -> dict[int, tuple[int, ...]]:
    """{cell: threads that wrote it}, without the cells nobody wrote."""
    return _by_cell((*cells.writes, *cells.atomics))


def _by_cell(pairs: Iterable[Pair]) -> dict[int, tuple[int, ...]]:
    found: dict[int, dict[int, None]] = {}
    for thread, cell in pairs:
        found.setdefault(cell, {})[thread] = None
    return {cell: tuple(threads) for cell, threads in found.items()}


def _layout(cells: ArrayTouches) -> tuple[int, int]:
    if len(cells.shape) > 1:
        return rows_columns(cells.shape)
    return max(1, -(-cells.size // _WRAP)), min(cells.size, _WRAP)


def _label(data: Footprint, threads: tuple[int, ...], alone: bool = False) -> str:
    block, inside = divmod(threads[0], data.block_size)
    if len(threads) > 1:
        return f"×{len(threads)}"
    return str(inside) if alone else f"{block}:{inside}"


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
    verb: str = "wrote",
    marked: str = "",
    alone: bool = False,
) -> None:
    if not threads:
        legend.add("unwritten", f"no thread {verb} it")
        square(axes, x, y, side * 0.94, p.UNWRITTEN_CELL, height * 0.92)
        return
    # Many may read a cell; several that write one are worth a mark where nothing else has it.
    contested = len(threads) > 1 and verb == "wrote"
    colour = _colour(threads[0] // data.block_size)
    look: dict[str, Any] = {"facecolor": colour, "edgecolor": p.PAPER, "linewidth": 0.8}
    ink = p.ink_on(colour)
    if contested or marked:
        legend.add("contested", marked or "written by several threads")
        look, ink = p.CONTESTED_CELL, p.INK
    square(axes, x, y, side * 0.94, look, height * 0.92)
    if labelled:
        label = _label(data, threads, alone)
        cell_text(axes, x, y, label, ink, plate=contested or bool(marked))


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
