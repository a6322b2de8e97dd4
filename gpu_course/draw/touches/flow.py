"""The signature picture in one dimension: cells read, threads and cells written, top to bottom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import ArrayTouches, Footprint
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import (
    NO_MARK,
    Legend,
    Mark,
    arrowheads,
    cell_look,
    cell_text,
    heading,
    line_look,
    plate_room,
    row_label,
    square,
    title,
)
from gpu_course.draw.touches.contents import DIGITS, Contents, is_rounded, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_GHOSTS = 8
A_FAN = 4
"""Cells of one array that a thread touches from which on its lines are drawn as a comb."""
MAX_FANS = 8
_EDGE = 0.25
_HEADER = 0.80
_BETWEEN_ROWS = 0.5
_TAB = 0.2
_GHOST_GAP = 0.35
"""Of one cell, between the last real cell and the first that does not exist."""


@dataclass(frozen=True)
class _Scale:
    """Where things stand on the sheet, in inches."""

    left: float
    pitch: float
    gap: float
    shift: float
    tabs: bool
    largest: float

    @property
    def side(self) -> float:
        return min(self.pitch * 0.86, self.largest)

    @property
    def radius(self) -> float:
        return min(0.4 * self.pitch, 0.175)

    @property
    def every(self) -> int:
        """Every how many cells a number fits."""
        return 1 if self.pitch >= 0.26 else 4 if self.pitch >= 0.1 else 8

    @property
    def rail_above(self) -> float:
        return max(self.radius + 0.1, 0.26)

    @property
    def rail_below(self) -> float:
        """More than above where the numbers stand under the threads instead of in them."""
        return self.rail_above if self.every == 1 else self.radius + 0.27

    def cell(self, index: float) -> float:
        """The middle of cell number `index` of any array."""
        return self.left + self.shift + (index + 0.5) * self.pitch

    def thread(self, number: int, block_size: int) -> float:
        """The middle of a thread, counted over the whole launch."""
        return self.left + (number // block_size) * self.gap + (number + 0.5) * self.pitch


@dataclass
class _Drawing:
    """One picture while it is being made."""

    axes: Axes
    data: Footprint
    scale: _Scale
    thread_y: float
    follow: int | None
    values: Contents
    digits: int
    mark: Mark
    legend: Legend = field(default_factory=Legend)


def draw_flow(
    data: Footprint,
    values: Contents,
    ax: Axes | None,
    follow: int | None = None,
    mark: Mark = NO_MARK,
) -> Figure:
    """Returns the picture of a one-dimensional launch on one-dimensional arrays.

    Args:
        data: at most about 64 threads and 64 cells per array.
        values: array name -> cell -> what stands in it; printed where those of all arrays are
            known and have room, else the cells have their numbers.
        ax: axes to draw on.
        follow: a thread whose lines stand out; default all do.
        mark: cells to be marked.
    """
    sources = [a for a in data.arrays if not a.is_written]
    targets = [a for a in data.arrays if a.is_written]
    known = all(array.name in values for array in data.arrays)
    scale, width = _fit(data, _widest(values, DIGITS) if known else 0.0)
    fall = _fall(data, scale)

    y = _HEADER + scale.side / 2 + (0.2 if sources else 0.05)
    rows: dict[str, float] = {}
    for array in sources:
        rows[array.name] = y
        y += _BETWEEN_ROWS + scale.side
    thread_y = y + (fall - _BETWEEN_ROWS if sources else 0.1)
    y = thread_y + fall + scale.side + (scale.rail_below - scale.rail_above)
    for array in targets:
        rows[array.name] = y
        y += _BETWEEN_ROWS + scale.side
    if not targets:
        y = thread_y + 0.3 + _BETWEEN_ROWS
    height = y - _BETWEEN_ROWS + scale.side / 2 + 0.55

    figure, axes = p.sheet(width, height, ax)
    digits = _digits(values, scale) if known else 0
    shown = values if digits else {}
    drawing = _Drawing(axes, data, scale, thread_y, follow, shown, digits, mark)
    if follow is None:
        heading(axes, data, _EDGE)
    else:
        title(axes, _EDGE, data.call, f"followed here: thread {follow}")
    _draw_threads(drawing)
    for array in data.arrays:
        _draw_array(drawing, array, rows[array.name])
    # Lines fall straight past the rows between an array and the threads, and bend only after them.
    for group, nearest in ((sources, -1), (targets, 0)):
        for place, array in enumerate(group):
            # Several arrays on one side: each gets its own lane past the nearer ones.
            lane = (place - (len(group) - 1) / 2) * 0.26 * scale.pitch
            _draw_lines(drawing, array, rows[array.name], rows[group[nearest].name], lane)
    drawing.legend.draw(axes, _EDGE, height - 0.24)
    return figure


_NARROW = {"-": 0.05, ".": 0.042}
_AIR = 0.03
"""Inches beside a value in its cell."""
_CHARACTER = 0.08
"""Inches of a character of the smallest size: a digit, and all others but the narrow ones."""


def _widest(values: Contents, digits: int) -> float:
    """Returns the inches that the widest of all values takes, with so many digits."""
    written = {short(value, digits) for cells in values.values() for value in cells.values()}
    widths = (sum(_NARROW.get(sign, _CHARACTER) for sign in each) for each in written)
    return max(widths, default=0.0)


def _digits(values: Contents, scale: _Scale) -> int:
    """Returns to how many digits values are rounded that fit into cells; 0 where none do."""
    if scale.pitch < 0.3:
        return 0
    fits = (n for n in (DIGITS, DIGITS - 1) if _widest(values, n) <= scale.side - _AIR)
    return next(fits, 0)


def _fit(data: Footprint, value: float) -> tuple[_Scale, float]:
    """Returns where things stand, and the width of the sheet; `value` is as wide as the widest."""
    largest = min(max(0.42, value + _AIR), 0.53)
    names = max([0.72, *(0.1 * len(a.name) + 0.15 for a in data.arrays)])
    columns = max([1, *(_columns(a) for a in data.arrays)])
    gaps = data.blocks - 1
    for tabs, gap in ((True, _TAB + 0.13), (False, 0.12)):
        left = _EDGE + names + (_TAB if tabs else 0.0)
        room = p.WIDEST - left - _EDGE
        pitch = min(
            max(0.5, largest / 0.86),
            (room - gaps * gap) / data.threads,
            (room - gaps * gap / 2) / columns,
        )
        if pitch >= 0.26:
            break
    scale = _Scale(left, pitch, gap, gaps * gap / 2, tabs, largest)
    used = max(data.threads * pitch + gaps * gap, columns * pitch + scale.shift)
    return scale, max(left + used + _EDGE, 6.0)


def _fall(data: Footprint, scale: _Scale) -> float:
    """Inches between the threads and the nearest array: the flatter the lines, the more room."""
    reach = [
        abs(scale.thread(t, data.block_size) - scale.cell(c))
        for a in data.arrays
        for t, c in (*a.reads, *a.writes, *a.atomics)
    ]
    return min(1.5, 0.84 + 0.14 * max(reach, default=0.0))


def _columns(array: ArrayTouches) -> float:
    ghosts = min(len(array.outside), MAX_GHOSTS)
    more = 1 if len(array.outside) > MAX_GHOSTS else 0
    return array.size + (ghosts + more + _GHOST_GAP if ghosts else 0)


def _draw_threads(d: _Drawing) -> None:
    from matplotlib.patches import Circle

    scale, data, y = d.scale, d.data, d.thread_y
    row_label(d.axes, scale.left - 0.16 - (_TAB if scale.tabs else 0), y, "threads")
    for block in range(data.blocks):
        _draw_rail(d, block)
    for thread in range(data.threads):
        x = scale.thread(thread, data.block_size)
        active = thread in data.active
        if not active:
            d.legend.add("idle", "idle thread" if d.follow is None else "its turn comes later")
        edge = p.CONFLICT if thread in data.astray else p.ACTIVE if active else p.RULE
        d.axes.add_artist(
            Circle(
                (x, y),
                scale.radius,
                facecolor=p.ACTIVE if active else p.IDLE,
                edgecolor=edge,
                linestyle="solid" if active else p.OUTSIDE_DASHES,
                linewidth=2.0 if thread in data.astray else 1.0,
                zorder=4,
            )
        )
        inside = thread % data.block_size
        if scale.every == 1:
            weight = "bold" if active else "normal"
            cell_text(d.axes, x, y, str(inside), p.PAPER if active else p.QUIET, weight=weight)
        elif inside % scale.every == 0:
            cell_text(d.axes, x, y + scale.radius + 0.12, str(inside), p.INK)


def _draw_rail(d: _Drawing, block: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    scale, data, y = d.scale, d.data, d.thread_y
    first = scale.thread(block * data.block_size, data.block_size) - scale.pitch / 2
    start = first - (_TAB if scale.tabs else 0.0)
    end = first + data.block_size * scale.pitch + 0.03
    top, bottom = y - scale.rail_above, y + scale.rail_below
    d.axes.add_artist(
        FancyBboxPatch(
            (start, top),
            end - start,
            bottom - top,
            boxstyle="round,pad=0,rounding_size=0.09",
            facecolor=p.SHADE,
            edgecolor=p.RULE,
            linewidth=0.8,
            zorder=2.6,
        )
    )
    if scale.tabs:
        d.axes.text(
            start + 0.1,
            (top + bottom) / 2,
            f"block {block}",
            rotation=90,
            fontsize=p.SMALL,
            color=p.QUIET,
            ha="center",
            va="center",
            zorder=6,
        )
    elif data.blocks > 1:
        wide = end - start >= 0.62
        d.axes.text(
            (start + end) / 2,
            top - 0.03,
            f"block {block}" if wide else str(block),
            fontsize=p.SMALL,
            color=p.QUIET,
            ha="center",
            va="bottom",
            zorder=6,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": p.PAPER, "edgecolor": "none"},
        )


def _draw_array(d: _Drawing, array: ArrayTouches, y: float) -> None:
    scale = d.scale
    row_label(d.axes, scale.left - 0.16, y, array.name, mono=True)
    if array.of:
        row_label(d.axes, scale.left - 0.16, y + 0.2, f"of {array.of}")
    held = d.values.get(array.name)
    looks = cell_look(array, d.legend, d.mark)
    hatches = array.contested | (d.mark[1] if d.mark[0] == array.name else frozenset())
    above = y < d.thread_y
    outer = y - scale.side / 2 - 0.11 if above else y + scale.side / 2 + 0.12
    for cell in range(array.size):
        x = scale.cell(cell)
        square(d.axes, x, y, scale.side, looks(cell))
        hatched = cell in hatches
        if held is not None:
            if cell in held:
                text = short(held[cell], d.digits)
                room = plate_room(text, scale.side)
                cell_text(d.axes, x, y, text, p.INK, plate=hatched, room=room)
                if is_rounded(held[cell], d.digits):
                    d.legend.add("rounded", f"numbers are rounded to {d.digits} digits")
            # Lines from an array further out pass here.
            cell_text(d.axes, x, outer, str(cell), p.QUIET, plate=True)
        elif scale.every == 1:
            cell_text(d.axes, x, y, str(cell), p.INK, plate=hatched)
        elif cell % scale.every == 0:
            cell_text(d.axes, x, outer, str(cell), p.QUIET, plate=True)
    if array.outside:
        _draw_ghosts(d, array, y)


def _draw_ghosts(d: _Drawing, array: ArrayTouches, y: float) -> None:
    scale = d.scale
    d.legend.add("outside", "out of bounds")
    end = scale.cell(array.size - 0.5 + _GHOST_GAP / 2)
    reach = scale.side * 0.75
    d.axes.plot([end, end], [y - reach, y + reach], color=p.CONFLICT, lw=1.6, zorder=5)
    for place, outside in enumerate(array.outside[:MAX_GHOSTS]):
        x = scale.cell(array.size + _GHOST_GAP + place)
        square(d.axes, x, y, scale.side, p.OUTSIDE)
        if scale.every == 1:
            cell_text(d.axes, x, y, outside.label, p.INK, plate=True)
    more = len(array.outside) - MAX_GHOSTS
    if more > 0:
        x = scale.cell(array.size + _GHOST_GAP + MAX_GHOSTS - 0.4)
        d.axes.text(x, y, f"+{more}", fontsize=p.SMALL, color=p.INK, va="center_baseline")


def _draw_lines(d: _Drawing, array: ArrayTouches, y: float, nearest: float, lane: float) -> None:
    scale = d.scale
    below = y > d.thread_y
    toward = 1.0 if below else -1.0
    if scale.every == 1:
        start = d.thread_y + toward * scale.radius
    else:
        start = d.thread_y + (scale.rail_below if below else -scale.rail_above)
    bend = nearest - toward * scale.side / 2
    end = y - toward * scale.side / 2
    port = 0.17 * scale.pitch if array.reads and array.is_written else 0.0

    def x_of(thread: int) -> float:
        return scale.thread(thread, d.data.block_size)

    kinds = (
        ("read", array.reads, lane - port),
        ("write", array.writes, lane + port),
        ("atomic", array.atomics, lane + port),
    )
    for kind, pairs, offset in kinds:
        threads = [t for t, _ in pairs]
        threads += [o.thread for o in array.outside[:MAX_GHOSTS] if o.kind == kind]
        ends = [(x_of(t) + offset, scale.cell(c) + offset) for t, c in pairs]
        ends += [
            (x_of(o.thread) + offset, scale.cell(array.size + _GHOST_GAP + place) + offset)
            for place, o in enumerate(array.outside[:MAX_GHOSTS])
            if o.kind == kind
        ]
        if ends:
            d.legend.add(kind, kind)
            fans = _fans(threads)
            pale = d.follow is not None
            heights = (start, bend, end)
            straight = [(e, t) for e, t in zip(ends, threads, strict=True) if t not in fans]
            for some, faint in (
                ([e for e, _ in straight], pale),
                ([e for e, t in straight if t == d.follow], False),
            ):
                if some:
                    _straight(d.axes, some, heights, kind, faint)
            for level, thread in enumerate(fans, 1):
                mine = [e for e, t in zip(ends, threads, strict=True) if t == thread]
                depth = level / (len(fans) + 1)
                _comb(d.axes, mine, heights, depth, kind, pale and thread != d.follow)


def _fans(threads: list[int]) -> list[int]:
    """Returns the threads with so many cells of one array that lines to them would be a knot.

    The first stands nearest to the threads where they go to the left, so that rails cross little.
    """
    often = Counter(threads)
    fans = [thread for thread in often if often[thread] >= A_FAN]
    return fans if len(fans) <= MAX_FANS else []


def _comb(
    axes: Axes,
    ends: list[tuple[float, float]],
    heights: tuple[float, float, float],
    depth: float,
    kind: str,
    pale: bool,
) -> None:
    """Draws what one thread does to many cells: a level rail, and an upright line to each cell.

    Args:
        axes: of the sheet.
        ends: (x at the thread, x at the cell) for each cell.
        heights: of the threads, of the nearest array's edge, and of the cells.
        depth: how far down the rail lies between threads and array, from 0 to 1.
        kind: "read", "write" or "atomic".
        pale: True where another thread is followed.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start, bend, end = heights
    reading = kind == "read"
    toward = 1.0 if end > start else -1.0
    head = 0.09 * toward
    rail = start + 2 * head + (bend - start - 4 * head) * depth
    x0 = ends[0][0]
    cells = sorted({x1 for _, x1 in ends})
    begin, stop = (start + head, end) if reading else (start, end - head)
    vertices = [(x0, begin), (x0, rail), (min(x0, cells[0]), rail), (max(x0, cells[-1]), rail)]
    codes = [Path.MOVETO, Path.LINETO, Path.MOVETO, Path.LINETO]
    for x1 in cells:
        vertices += [(x1, rail), (x1, stop)]
        codes += [Path.MOVETO, Path.LINETO]
    look = line_look(kind, thin=len(cells) > 40)
    if pale:
        look |= {"alpha": 0.35, "linewidth": look["linewidth"] * 0.6}
    axes.add_artist(PathPatch(Path(vertices, codes), facecolor="none", zorder=2.5, **look))
    if pale:
        return
    # Where another thread's line crosses there is no dot.
    colour = look["edgecolor"]
    axes.scatter([x0, *cells], [rail] * (len(cells) + 1), s=9, color=colour, lw=0, zorder=2.55)
    tips, tip_y = ([x0], start + head * 0.55) if reading else (cells, end - head * 0.55)
    downwards = (toward > 0) != reading
    arrowheads(axes, tips, [tip_y] * len(tips), kind, "v" if downwards else "^", len(cells) > 40)


def _straight(
    axes: Axes,
    ends: list[tuple[float, float]],
    heights: tuple[float, float, float],
    kind: str,
    pale: bool,
) -> None:
    """Draws (x at the thread, x at the cell) as straight lines, with arrows along the data.

    `heights` are those of the threads, of the nearest array's edge, and of the cells. Past a nearer
    array a line falls upright.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start, bend, end = heights
    reading = kind == "read"
    dense = len(ends) > 40
    head = 0.06 if dense else 0.09
    toward = 1.0 if end > start else -1.0
    begin, stop = (start + toward * head, end) if reading else (start, end - toward * head)
    upright = toward * head
    if bend == end:
        bend = stop if reading else stop - upright * 0.5
    vertices: list[tuple[float, float]] = []
    for x0, x1 in ends:
        vertices += [(x0, begin), (x0, begin + upright * 0.5), (x1, bend), (x1, stop)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO] * len(ends)
    look = line_look(kind, thin=dense) | {"joinstyle": "round"}
    if pale:
        look |= {"alpha": 0.35, "linewidth": look["linewidth"] * 0.6}
    axes.add_artist(PathPatch(Path(vertices, codes), facecolor="none", zorder=2.5, **look))
    if pale:
        return
    tips = [x0 if reading else x1 for x0, x1 in ends]
    tip_y = start + toward * head * 0.55 if reading else end - toward * head * 0.55
    downwards = (toward > 0) != reading
    arrowheads(axes, tips, [tip_y] * len(tips), kind, "v" if downwards else "^", small=dense)
