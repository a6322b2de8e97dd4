"""Who owns which cell: every cell of one array labelled with the thread that wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import (
    ArrayTouches,
    Footprint,
    Pair,
    count,
    footprint,
    index_label,
    named,
)
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, cell_text, plate_room, square, title
from gpu_course.draw.paper.layout import array_title, ghost_place, rows_columns
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 1.1
_LETTER = 0.098
"""Inches that a letter of a heading takes, on average."""
_WRAP = 16
_WRAP_OF_LONG_NAMES = 12
MAX_CELLS = 1024
WINDOW_CELLS, WINDOW_ROWS, WINDOW_COLUMNS = 64, 8, 12
_WIDEST_CELL = 0.72
_AND_SO_ON = 1.0
"""Inches that these words and the gap before them take."""


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
    longest = max((len(_label(data, t)) for t in owners.values() if t), default=1)
    rows, columns = _layout(cells, longest)
    side = min(0.62, max(0.30, 0.085 * longest + 0.1), (p.WIDEST - 2 * _EDGE - 0.3) / columns)
    height = min(side, 0.46)
    labelled = side >= 0.078 * longest
    who = "says block:thread" if labelled else "has the colour of the block"
    words = f"{array_title(array, cells.shape)}: each cell {who} that wrote it"
    heading = min(p.WIDEST, 2 * _EDGE + _LETTER * len(words))
    width = max(2 * _EDGE + 0.3 + columns * side, heading, 6.0)

    with p.style():
        figure, axes = p.sheet(width, _TOP + rows * height + 0.75, ax)
        legend = Legend()
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
        shown: whose thread a cell names: "wrote", "read" or "updated"; "" for who wrote it, or who
            read it where the kernel only reads the array.
        only_block: True to name threads of `block` alone.
    """

    array: str
    cell: int
    words: str
    marked: frozenset[int] = frozenset()
    mark: str = "wrong"
    block: int = 0
    shown: str = ""
    only_block: bool = False


Place = tuple[int, int]
"""A row and a column of an array as it lies on paper."""


@dataclass(frozen=True)
class _Around:
    """The part of an array that is drawn around a trouble.

    Attributes:
        data, cells: the launch, and what it did to the array.
        owners: cell -> the threads that it names, and `verb` what they did.
        rows: the places that are drawn, row by row; those beyond the array come last in each.
        ghosts: a place beyond the array -> the threads that missed it there.
        across: columns of the array as it lies on paper.
    """

    data: Footprint
    cells: ArrayTouches
    owners: dict[int, tuple[int, ...]]
    verb: str
    rows: list[list[Place]]
    ghosts: dict[Place, tuple[int, ...]]
    across: int

    def cell(self, place: Place) -> int | None:
        """Returns the flat number of the cell at a place; None for a place beyond the array."""
        row, column = place
        number = row * self.across + column
        inside = column < self.across and number < self.cells.size
        return number if inside else None

    @property
    def shown(self) -> list[int]:
        """The cells that are drawn, in the order of memory."""
        found = (self.cell(place) for row in self.rows for place in row)
        return [cell for cell in found if cell is not None]


def _around(report: Report, trouble: Trouble) -> _Around:
    data, cells = _find(report, trouble.array, trouble.block)
    pairs = {
        "wrote": (*cells.writes, *cells.atomics),
        "read": cells.reads,
        "updated": cells.atomics,
    }
    verb = trouble.shown or ("wrote" if cells.is_written else "read")
    mine = pairs[verb]
    if trouble.only_block:
        mine = tuple(pair for pair in mine if pair[0] // data.block_size == trouble.block)
    owners = _by_cell(mine)
    across = rows_columns(cells.shape)[1] if len(cells.shape) > 1 else _WRAP
    ghosts = _ghosts(cells, across)
    columns = _columns_in_view(data, owners, cells)
    return _Around(
        data, cells, owners, verb, _window(cells, trouble.cell, columns, ghosts), ghosts, across
    )


def _ghosts(cells: ArrayTouches, across: int) -> dict[Place, tuple[int, ...]]:
    """The places just beyond an array at which threads missed it, as far as they are known."""
    found: dict[Place, dict[int, None]] = {}
    for each in cells.outside:
        place = None
        if each.index is None:
            continue
        if len(cells.shape) == 1 == len(each.index):
            (index,) = each.index
            if cells.size <= index < cells.size + 2 * _WRAP:
                place = divmod(index, across)
        else:
            place = ghost_place(cells, each)
        if place is not None:
            found.setdefault(place, {})[each.thread] = None
    return {place: tuple(threads) for place, threads in found.items()}


def draw_around(report: Report, trouble: Trouble, ax: Axes | None = None) -> Figure:
    """Returns the cells around the first that is wrong, each with the thread that touched it.

    Of a large array a window is drawn, a few rows of a table or WINDOW_CELLS of a vector; beyond
    its end, where threads missed it. A cell says "block:thread", as messages number them; in an
    array of one block it says the thread alone. Where neither fits, colours say the block.

    Args:
        report: of a launch of at most 4,096 lanes.
        trouble: the array, and what is wrong with it.
        ax: axes to draw on instead of a new figure.
    """
    seen = _around(report, trouble)
    data, cells = seen.data, seen.cells
    alone = cells.of.startswith("block") or trouble.only_block
    named = [*seen.owners.values(), *seen.ghosts.values()]
    longest = max((len(_label(data, threads, alone)) for threads in named), default=1)
    widest = max(map(len, seen.rows))
    side = min(
        _WIDEST_CELL, max(0.30, 0.085 * longest + 0.1), (p.WIDEST - 2 * _EDGE - 0.5) / widest
    )
    height = min(side, 0.4)
    labelled = side >= 0.078 * longest
    left, tall = _EDGE + 0.4, _TOP + len(seen.rows) * height
    width = max(left + _EDGE + widest * side, 6.6)
    whole = f" of {cells.of}" if cells.of else ""
    table = len(cells.shape) > 1
    with p.style():
        figure, axes = p.sheet(width, tall + 0.75, ax)
        legend = Legend()
        who = "says the thread" if alone else "says block:thread"
        who = who if labelled else "has the colour of the block"
        by = (
            f" of block {index_label(trouble.block, data.launch.grid)}"
            if alone and not whole
            else ""
        )
        title(axes, _EDGE, f"{trouble.array}{whole}: each cell {who}{by} that {seen.verb} it",
              trouble.words, mono=False)  # fmt: skip
        for row, places in enumerate(seen.rows):
            y = _TOP + (row + 0.5) * height
            first = places[0][0] if table else places[0][0] * seen.across
            cell_text(axes, _EDGE + 0.15, y, str(first), p.QUIET)
            for number, place in enumerate(places):
                x = left + (number + 0.5) * side
                if row == 0:
                    column = str(place[1]) if table else f"+{place[1]}"
                    cell_text(axes, x, _TOP - 0.12, column, p.QUIET)
                cell = seen.cell(place)
                if cell is None:
                    _draw_ghost(axes, seen, place, (x, y, side, height), labelled, legend, alone)
                    continue
                marked = trouble.mark if cell in trouble.marked else ""
                look = (x, y, side, height, labelled, legend, seen.verb, marked, alone)
                _draw_cell(axes, data, seen.owners.get(cell, ()), *look)
        owners = {cell: seen.owners[cell] for cell in seen.shown if cell in seen.owners}
        _draw_blocks(axes, data, owners, tall + 0.25, width)
        legend.draw(axes, _EDGE, tall + 0.52)
    return with_alt(figure, describe_around(report, trouble))


def _draw_ghost(
    axes: Axes,
    seen: _Around,
    place: Place,
    at: tuple[float, float, float, float],
    labelled: bool,
    legend: Legend,
    alone: bool,
) -> None:
    threads = seen.ghosts.get(place)
    if threads is None:
        return
    x, y, side, height = at
    legend.add("outside", "out of bounds")
    square(axes, x, y, side * 0.94, p.OUTSIDE, height * 0.92)
    if labelled:
        label = _label(seen.data, threads, alone)
        cell_text(axes, x, y, label, p.INK, plate=True, room=plate_room(label, side * 0.94))


def describe_around(report: Report, trouble: Trouble) -> str:
    """Returns in words what `draw_around` shows."""
    seen = _around(report, trouble)
    shown = seen.shown
    are = "is" if len(shown) == 1 else "are"
    said = [
        f"{seen.data.call}; {trouble.words}.",
        f"Shown {are} {named('cell', shown)} of {trouble.array}, in the order of memory.",
    ]
    if marked := [cell for cell in shown if cell in trouble.marked]:
        said.append(f"{trouble.mark.capitalize()}: {named('cell', marked)}.")
    if ghosts := [place for row in seen.rows for place in row if place in seen.ghosts]:
        table = len(seen.cells.shape) > 1
        names = (
            f"[{row}, {column}]" if table else f"{row * seen.across + column}"
            for row, column in ghosts
        )
        said.append(f"Out of bounds: {', '.join(names)}.")
    if empty := [cell for cell in shown if cell not in seen.owners]:
        said.append(f"No thread {seen.verb} {named('cell', empty)}.")
    many: dict[int, list[int]] = {}
    for cell in shown:
        many.setdefault(len(seen.owners.get(cell, ())), []).append(cell)
    if max(many, default=0) > 1:
        said += [
            f"{count(threads, 'thread').capitalize()} {seen.verb} {named('cell', many[threads])}."
            for threads in sorted(many)
            if threads
        ]
    return " ".join(said)


def _columns_in_view(
    data: Footprint, owners: dict[int, tuple[int, ...]], cells: ArrayTouches
) -> int:
    """Returns how many columns of a table have room for the names of their threads."""
    alone = cells.of.startswith("block")
    longest = max((len(_label(data, threads, alone)) for threads in owners.values()), default=1)
    return min(WINDOW_COLUMNS, max(8, int((p.WIDEST - 2 * _EDGE - 0.5) / (0.078 * longest + 0.02))))


def _window(
    cells: ArrayTouches, cell: int, most: int, ghosts: dict[Place, tuple[int, ...]]
) -> list[list[Place]]:
    """Returns the places to show, row by row of the picture, at most `most` columns of a table."""
    cell = max(0, min(cell, cells.size - 1))
    if len(cells.shape) < 2:
        end = max([cells.size, *(row * _WRAP + column + 1 for row, column in ghosts)])
        lines = -(-end // _WRAP)
        first = max(0, min(cell // _WRAP - 1, lines - WINDOW_CELLS // _WRAP))
        shown = range(first, min(lines, first + WINDOW_CELLS // _WRAP))
        return [
            [(line, column) for column in range(_WRAP) if line * _WRAP + column < end]
            for line in shown
        ]
    rows, columns = rows_columns(cells.shape)
    row, column = divmod(cell, columns)
    high = max([rows, *(r + 1 for r, _ in ghosts)])
    wide = max([columns, *(c + 1 for _, c in ghosts)])
    top = max(0, min(row - 2, high - WINDOW_ROWS))
    left = max(0, min(column - 3, wide - most))
    return [
        [(r, c) for c in range(left, min(wide, left + most))]
        for r in range(top, min(high, top + WINDOW_ROWS))
    ]


def describe_ownership(report: Report, array: str) -> str:
    """Returns in words what `draw_ownership` shows."""
    data, cells = _one(report, array)
    owners = _owners(cells)
    said = [f"Who wrote which cell of {array} in {data.call}: {_summary(data, cells)}."]
    for block in range(data.blocks):
        mine = [c for c, ts in owners.items() if any(t // data.block_size == block for t in ts)]
        if mine:
            said.append(f"Block {block} wrote {named('cell', mine)}.")
    empty = [c for c in range(cells.size) if c not in owners]
    if empty:
        said.append(f"No thread wrote {named('cell', empty)}.")
    contested = [c for c, threads in owners.items() if len(threads) > 1]
    if contested:
        said.append(f"Several threads wrote {named('cell', contested)}.")
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


def _layout(cells: ArrayTouches, longest: int) -> tuple[int, int]:
    """Returns rows and columns; long names of threads have fewer cells of a vector in a row."""
    if len(cells.shape) > 1:
        return rows_columns(cells.shape)
    wrap = _WRAP if longest < 5 else _WRAP_OF_LONG_NAMES
    return max(1, -(-cells.size // wrap)), min(cells.size, wrap)


def _label(data: Footprint, threads: tuple[int, ...], alone: bool = False) -> str:
    block, inside = divmod(threads[0], data.block_size)
    if len(threads) > 1:
        return f"×{len(threads)}"
    thread = index_label(inside, data.launch.block)
    return thread if alone else f"{index_label(block, data.launch.grid)}:{thread}"


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
        key, words = ("contested", marked) if marked else ("unwritten", f"no thread {verb} it")
        legend.add(key, words)
        look = p.CONTESTED_CELL if marked else p.UNWRITTEN_CELL
        square(axes, x, y, side * 0.94, look, height * 0.92)
        return
    # Many may read a cell; several that write one are worth a mark where nothing else has it.
    contested = len(threads) > 1 and verb == "wrote"
    colour = _colour(threads[0] // data.block_size)
    look = {"facecolor": colour, "edgecolor": p.PAPER, "linewidth": 0.8}
    ink = p.ink_on(colour)
    if contested or marked:
        legend.add("contested", marked or "written by several threads")
        look, ink = p.CONTESTED_CELL, p.INK
    square(axes, x, y, side * 0.94, look, height * 0.92)
    if labelled:
        label = _label(data, threads, alone)
        if len(threads) > 1:
            legend.add("times", "so many threads")
        hatched = contested or bool(marked)
        cell_text(axes, x, y, label, ink, plate=hatched, room=plate_room(label, side * 0.94))


def _colour(block: int) -> str:
    return p.BLOCK_COLOURS[block % len(p.BLOCK_COLOURS)]


def _draw_blocks(
    axes: Axes, data: Footprint, owners: dict[int, tuple[int, ...]], y: float, width: float
) -> None:
    x = _EDGE
    blocks = sorted({t // data.block_size for ts in owners.values() for t in ts})
    for number, block in enumerate(blocks, 1):
        text = f"block {index_label(block, data.launch.grid)}"
        wide = 0.38 + 0.08 * len(text)
        room = width - _EDGE - (_AND_SO_ON if number < len(blocks) else 0)
        if x + wide > room:
            axes.text(
                x + 0.1, y, "and so on", fontsize=p.SMALL, color=p.QUIET, va="center_baseline"
            )
            return
        square(axes, x + 0.18, y, 0.2, {"facecolor": _colour(block), "linewidth": 0})
        axes.text(x + 0.38, y, text, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += wide + 0.2
