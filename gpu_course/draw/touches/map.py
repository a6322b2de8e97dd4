"""Who touches what in two dimensions: arrays read, threads, arrays written, from left to right.

Lines from cell to cell would cover the cells between, so every cell carries the label of the
thread that touched it. Two threads are followed: a ring marks them and their cells, and arrows
cross the gaps between the panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import ArrayTouches, Footprint, count
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
    panel_label,
    square,
)
from gpu_course.draw.paper.layout import (
    array_title,
    dimensions,
    ghost_place,
    joint_label,
    rows_columns,
    thread_cell,
    thread_extent,
    thread_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 0.85
_GUTTER = 0.75
_NAME = 0.42
"""Inches above a panel for its name and column numbers."""
_INDEX = 0.2
_LOST = 0.24


@dataclass(frozen=True)
class _Panel:
    """A grid of cells: `left` and `top` of cell (0, 0) and the `side` of a cell, in inches."""

    left: float
    top: float
    rows: int
    columns: int
    side: float

    def middle(self, row: int, column: int) -> tuple[float, float]:
        return self.left + (column + 0.5) * self.side, self.top + (row + 0.5) * self.side

    @property
    def right(self) -> float:
        return self.left + self.columns * self.side

    @property
    def bottom(self) -> float:
        return self.top + self.rows * self.side


@dataclass
class _Drawing:
    """One picture while it is being made."""

    axes: Axes
    data: Footprint
    threads: _Panel
    panels: dict[str, _Panel]
    legend: Legend = field(default_factory=Legend)


def draw_map(data: Footprint, ax: Axes | None, mark: Mark = NO_MARK) -> Figure:
    """Returns the picture of a launch in which threads, arrays or both have two dimensions.

    Args:
        data: at most about 8 threads and 8 cells in each direction.
        ax: axes to draw on.
        mark: cells to be marked.
    """
    sources = [a for a in data.arrays if not a.is_written]
    targets = [a for a in data.arrays if a.is_written]
    grid = thread_extent(data)
    stacks = [s for s in (_stack(sources), [grid], _stack(targets)) if s]
    columns = sum(max(c for _, c in s) for s in stacks)
    fixed = 2 * _EDGE + _GUTTER * (len(stacks) - 1) + (0.0 if sources else _INDEX) + _INDEX
    side = min(0.46, (p.WIDEST - fixed) / columns)
    # Room for how many threads are too far off to be drawn.
    lost = {a.name: _LOST for a in data.arrays if any(ghost_place(a, o) is None for o in a.outside)}
    tallest = max(sum(r * side + _NAME for r, _ in s) + 0.1 * (len(s) - 1) for s in stacks)
    tallest += max((sum(lost.get(a.name, 0.0) for a in s) for s in (sources, targets)), default=0)
    width, height = max(fixed + columns * side, 6.2), _TOP + tallest + 0.62

    figure, axes = p.sheet(width, height, ax)
    heading(axes, data, _EDGE)
    x = _EDGE + _INDEX
    panels: dict[str, _Panel] = {}
    thread_panel = _Panel(x, 0, 1, 1, side)
    for names, stack in (
        ([a.name for a in sources], _stack(sources)),
        ([""], [grid]),
        ([a.name for a in targets], _stack(targets)),
    ):
        if not stack:
            continue
        own = sum(r * side + _NAME for r, _ in stack) + 0.1 * (len(stack) - 1)
        y = _TOP + (tallest - own) / 2
        for name, (rows, cells) in zip(names, stack, strict=True):
            panel = _Panel(x, y + _NAME, rows, cells, side)
            if name:
                panels[name] = panel
            else:
                thread_panel = panel
            y = panel.bottom + 0.1 + lost.get(name, 0.0)
        x += max(c for _, c in stack) * side + _GUTTER
    drawing = _Drawing(axes, data, thread_panel, panels)
    _draw_threads(drawing)
    for array in data.arrays:
        _draw_array(drawing, array, mark)
    for place, thread in enumerate(_examples(data)):
        _follow(drawing, thread, place)
    drawing.legend.draw(axes, _EDGE, height - 0.24)
    return figure


def _stack(arrays: Sequence[ArrayTouches]) -> list[tuple[int, int]]:
    """Rows and columns of each array, with room for the ghosts beside it."""
    extents = []
    for array in arrays:
        rows, columns = rows_columns(array.shape)
        for r, c in (ghost_place(array, o) or (0, 0) for o in array.outside):
            rows, columns = max(rows, r + 1), max(columns, c + 1)
        extents.append((rows, columns))
    return extents


def _draw_threads(d: _Drawing) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch

    data, panel = d.data, d.threads
    axes_of_grid = ("x", "x,y", "x,y,z")[dimensions(data) - 1]
    panel_label(d.axes, panel.left, panel.top - 0.08, f"threads {axes_of_grid}")
    bx, by, bz = data.launch.block
    for block in range(data.blocks):
        row, column = thread_cell(data, block * data.block_size)
        x, y = panel.left + column * panel.side, panel.top + row * panel.side
        d.axes.add_artist(
            FancyBboxPatch(
                (x + 0.02, y + 0.02),
                bx * panel.side - 0.04,
                by * bz * panel.side - 0.04,
                boxstyle="round,pad=0,rounding_size=0.08",
                facecolor=p.SHADE,
                edgecolor=p.QUIET if data.blocks > 1 else p.RULE,
                linewidth=1.4 if data.blocks > 1 else 0.8,
                zorder=2,
            )
        )
    if data.blocks > 1:
        d.legend.add("block", "one block")
    for thread in range(data.threads):
        active, astray = thread in data.active, thread in data.astray
        x, y = panel.middle(*thread_cell(data, thread))
        if not active:
            d.legend.add("idle", "idle thread")
        d.axes.add_artist(
            Circle(
                (x, y),
                panel.side * 0.42,
                facecolor=p.ACTIVE if active else p.IDLE,
                edgecolor=p.CONFLICT if astray else p.ACTIVE if active else p.RULE,
                linestyle="solid" if active else p.OUTSIDE_DASHES,
                linewidth=2.2 if astray else 1.0,
                zorder=4,
            )
        )
        weight = "bold" if active and panel.side > 0.4 else "normal"
        colour = p.PAPER if active else p.QUIET
        cell_text(d.axes, x, y, thread_label(data, thread), colour, weight=weight)


def _draw_array(d: _Drawing, array: ArrayTouches, mark: Mark) -> None:
    panel = d.panels[array.name]
    panel_label(
        d.axes, panel.left, panel.top - _INDEX, array_title(array.name, array.shape), mono=True
    )
    if array.of:
        x = panel.left + 0.12 * len(array_title(array.name, array.shape)) + 0.1
        panel_label(d.axes, x, panel.top - _INDEX, f"of {array.of}")
    rows, columns = rows_columns(array.shape)
    touching = _who_touched(array)
    looks = cell_look(array, d.legend, mark)
    hatched = array.contested | (mark[1] if mark[0] == array.name else frozenset())
    for cell in range(array.size):
        row, column = divmod(cell, columns)
        x, y = panel.middle(row, column)
        square(d.axes, x, y, panel.side * 0.9, looks(cell))
        if cell in touching:
            label = joint_label(d.data, touching[cell])
            cell_text(d.axes, x, y, label, p.INK, plate=cell in hatched)
            if "*" in label:
                d.legend.add("star", "several threads")
    for column in range(columns):
        cell_text(d.axes, panel.middle(0, column)[0], panel.top - 0.1, str(column), p.QUIET)
    if len(array.shape) > 1:
        for row in range(rows):
            cell_text(d.axes, panel.left - 0.11, panel.middle(row, 0)[1], str(row), p.QUIET)
    if array.outside:
        _draw_outside(d, array, panel, rows, columns)


def _who_touched(array: ArrayTouches) -> dict[int, set[int]]:
    """{cell: threads}: those that wrote it, or where nobody did those that read it."""
    read: dict[int, set[int]] = {}
    written: dict[int, set[int]] = {}
    for thread, cell in array.reads:
        read.setdefault(cell, set()).add(thread)
    for thread, cell in (*array.writes, *array.atomics):
        written.setdefault(cell, set()).add(thread)
    return {**read, **written}


def _draw_outside(d: _Drawing, array: ArrayTouches, panel: _Panel, rows: int, columns: int) -> None:
    d.legend.add("outside", "out of bounds")
    ghosts: dict[tuple[int, int], set[int]] = {}
    lost = 0
    for outside in array.outside:
        place = ghost_place(array, outside)
        if place is None:
            lost += 1
        else:
            ghosts.setdefault(place, set()).add(outside.thread)
    for (row, column), threads in ghosts.items():
        x, y = panel.middle(row, column)
        square(d.axes, x, y, panel.side * 0.9, p.OUTSIDE)
        cell_text(d.axes, x, y, joint_label(d.data, threads), p.INK, plate=True)
    if lost:
        x = panel.left + columns * panel.side / 2
        text = f"{count(lost, 'thread')} outside"
        cell_text(d.axes, x, panel.top + rows * panel.side + 0.14, text, p.CONFLICT)


def _examples(data: Footprint) -> tuple[int, ...]:
    """One thread off the diagonal where there is one, and the last that does something."""
    busy = sorted(data.active - data.astray)
    if not busy:
        return ()
    second = next((t for t in busy if len(set(data.place(t)[:2])) > 1), busy[0])
    return tuple(dict.fromkeys((second, busy[-1])))


def _follow(d: _Drawing, thread: int, place: int) -> None:
    """Rings one thread and its cells, and draws the arrows in the gaps between the panels."""
    from matplotlib.patches import Circle, PathPatch, Rectangle
    from matplotlib.path import Path

    ring = {**p.RINGS[place], "zorder": 7}
    tx, ty = d.threads.middle(*thread_cell(d.data, thread))
    d.axes.add_artist(Circle((tx, ty), d.threads.side * 0.44, **ring))
    d.legend.add(f"ring{place}", f"thread {thread_label(d.data, thread)}")
    for array in d.data.arrays:
        panel = d.panels[array.name]
        columns = rows_columns(array.shape)[1]
        side = panel.side * 0.92
        for kind, pairs in (
            ("read", array.reads),
            ("write", array.writes),
            ("atomic", array.atomics),
        ):
            for cell in (c for t, c in pairs if t == thread):
                cx, cy = panel.middle(*divmod(cell, columns))
                d.axes.add_artist(Rectangle((cx - side / 2, cy - side / 2), side, side, **ring))
                d.legend.add(kind, kind)
                rightwards = panel.left > d.threads.left
                near, far = (
                    (d.threads.right, panel.left - _INDEX)
                    if rightwards
                    else (d.threads.left, panel.right)
                )
                reading = kind == "read"
                head = 0.09 if rightwards else -0.09
                begin, stop = (near + head, far) if reading else (near, far - head)
                bend = (begin + stop) / 2
                path = Path(
                    [(begin, ty), (bend, ty), (bend, cy), (stop, cy)],
                    [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
                )
                look = line_look(kind)
                d.axes.add_artist(PathPatch(path, facecolor="none", zorder=2.5, **look))
                tip = (near + head * 0.55, ty) if reading else (far - head * 0.55, cy)
                marker = ">" if rightwards != reading else "<"
                arrowheads(d.axes, [tip[0]], [tip[1]], kind, marker)
