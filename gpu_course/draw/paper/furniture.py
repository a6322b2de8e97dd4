"""What several pictures share: heading, names, cells, lines, arrows, legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.execution.footprint import ArrayTouches, Footprint, count
from gpu_course.draw.paper import palette as p

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Look = dict[str, Any]


def heading(axes: Axes, data: Footprint, x: float) -> None:
    """Writes the launch and, in a second line, how many threads did what."""
    idle = data.threads - len(data.active)
    words = [f"{count(data.blocks, 'block')} of {count(data.block_size, 'thread')}"]
    verb = "touches" if len(data.active) == 1 else "touch"
    words.append(f"{len(data.active):,} {verb} memory" if idle else "all touch memory")
    if idle:
        words.append(f"{idle:,} idle")
    if data.astray:
        words.append(f"{len(data.astray):,} out of bounds")
    title(axes, x, data.call, "  ·  ".join(words))


def title(axes: Axes, x: float, text: str, second: str, mono: bool = True) -> None:
    """Writes a title and a quiet second line at the top of a sheet."""
    axes.text(
        x,
        0.27,
        text,
        fontsize=p.LARGE,
        fontweight="bold",
        family="monospace" if mono else "sans-serif",
        color=p.INK,
        va="center",
    )
    axes.text(x, 0.52, second, fontsize=p.NORMAL, color=p.QUIET, va="center")


def row_label(axes: Axes, x: float, y: float, text: str, mono: bool = False) -> None:
    """Writes the name of a row of cells, ending at x."""
    _label(axes, x, y, text, mono, "right", "center_baseline")


def panel_label(axes: Axes, x: float, y: float, text: str, mono: bool = False) -> None:
    """Writes the name of a grid of cells above it, beginning at x."""
    _label(axes, x, y, text, mono, "left", "bottom")


def _label(
    axes: Axes, x: float, y: float, text: str, mono: bool, across: str, upright: str
) -> None:
    axes.text(
        x,
        y,
        text,
        fontsize=p.NORMAL + 1 if mono else p.SMALL + 0.5,
        family="monospace" if mono else "sans-serif",
        fontweight="bold" if mono else "normal",
        color=p.INK if mono else p.QUIET,
        ha=across,
        va=upright,
    )


_PLATE = 0.15
"""Inches that the white behind a text of the smallest size is high."""


def cell_text(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    colour: str,
    *,
    weight: str = "normal",
    plate: bool = False,
    room: float | None = None,
) -> None:
    """Writes the small text of one cell; `plate` puts white behind it where a hatch would cross.

    Args:
        room: inches that the white may be wide, where the text fills a cell and the cell's edges
            have to stay; None for as wide as the text.
    """
    from matplotlib.patches import Rectangle

    box = {"boxstyle": "round,pad=0.12", "facecolor": p.PAPER, "edgecolor": "none"}
    if plate and room is not None:
        place = (x - room / 2, y - _PLATE / 2)
        white = Rectangle(place, room, _PLATE, facecolor=p.PAPER, lw=0, zorder=5, gid="plate")
        axes.add_artist(white)
        plate = False
    axes.text(
        x,
        y,
        text,
        fontsize=p.SMALL,
        fontweight=weight,
        color=colour,
        ha="center",
        va="center_baseline",
        zorder=6,
        bbox=box if plate else None,
    )


def plate_room(text: str, cell: float) -> float:
    """Returns how wide the white behind a text is: as the text, and within its cell."""
    return min(0.08 * len(text) + 0.06, cell - 0.03)


def square(axes: Axes, x: float, y: float, side: float, look: Look, height: float = 0) -> None:
    """Draws one cell around (x, y)."""
    from matplotlib.patches import Rectangle

    height = height or side
    axes.add_artist(Rectangle((x - side / 2, y - height / 2), side, height, zorder=3, **look))


Mark = tuple[str, frozenset[int], str]
"""An array, the flat numbers of its cells that are marked, and what is the matter with them."""
NO_MARK: Mark = ("", frozenset(), "")


def cell_look(array: ArrayTouches, legend: Legend, mark: Mark = NO_MARK) -> Callable[[int], Look]:
    """Returns a function from a flat cell number to how that cell is filled and framed."""
    read = {c for _, c in array.reads}
    written = {c for _, c in (*array.writes, *array.atomics)}
    contested = array.contested
    marked = mark[1] if mark[0] == array.name else frozenset()

    def look(cell: int) -> Look:
        if cell in marked:
            legend.add("contested", mark[2])
            return p.CONTESTED_CELL
        if cell in contested:
            legend.add("contested", "written by several threads")
            return p.CONTESTED_CELL
        if cell in written:
            return p.WRITTEN_CELL
        return p.READ_CELL if cell in read else p.UNTOUCHED_CELL

    return look


def line_look(kind: str, thin: bool = False) -> Look:
    """Returns colour, dashes and width of the line for a "read", "write" or "atomic"."""
    dashes: dict[str, Any] = {
        "read": p.READ_DASHES,
        "write": "solid",
        "atomic": p.ATOMIC_DASHES,
    }
    width = 1.5 if kind == "read" else 2.0
    return {
        "edgecolor": p.READ if kind == "read" else p.WRITE,
        "linestyle": dashes[kind],
        "linewidth": width * 0.65 if thin else width,
        "capstyle": "round" if kind == "write" else "butt",
    }


def arrowheads(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    kind: str,
    marker: str,
    small: bool = False,
) -> None:
    """Draws the heads of arrows of one kind."""
    colour = p.READ if kind == "read" else p.WRITE
    axes.scatter(x, y, marker=marker, s=12 if small else 26, color=colour, lw=0, zorder=5)


_LEGEND_LINE = 0.28


class Legend:
    """Collects what a picture really shows and writes it down, in as many lines as it takes."""

    def __init__(self) -> None:
        self._entries: dict[str, str] = {}

    def add(self, key: str, text: str) -> None:
        """Notes one kind of mark; the same key again changes nothing."""
        self._entries.setdefault(key, text)

    def draw(self, axes: Axes, x: float, y: float) -> None:
        """Draws the lines, beginning at x; the sheet grows where one is not enough."""
        left, right = x, axes.get_xlim()[1]
        for key in (k for k in _SAMPLES if k in self._entries):
            text = self._entries[key]
            wide = 0.38 + 0.08 * len(text)
            if x > left and x + wide > right:
                x, y = left, y + _LEGEND_LINE
                p.grow(axes, _LEGEND_LINE)
            _SAMPLES[key](axes, x, y)
            axes.text(x + 0.38, y, text, fontsize=p.SMALL, color=p.INK, va="center_baseline")
            x += wide + 0.26


def _line(kind: str) -> Callable[[Axes, float, float], None]:
    def sample(axes: Axes, x: float, y: float) -> None:
        look = line_look(kind)
        axes.plot(
            [x, x + 0.24],
            [y, y],
            color=look["edgecolor"],
            linestyle=look["linestyle"],
            lw=look["linewidth"],
        )
        arrowheads(axes, [x + 0.28], [y], kind, ">")

    return sample


def _box(look: Look) -> Callable[[Axes, float, float], None]:
    def sample(axes: Axes, x: float, y: float) -> None:
        square(axes, x + 0.18, y, 0.2, look)

    return sample


def _disc(look: Look) -> Callable[[Axes, float, float], None]:
    def sample(axes: Axes, x: float, y: float) -> None:
        from matplotlib.patches import Circle

        axes.add_artist(Circle((x + 0.18, y), 0.1, **look))

    return sample


def _word(text: str) -> Callable[[Axes, float, float], None]:
    def sample(axes: Axes, x: float, y: float) -> None:
        cell_text(axes, x + 0.18, y, text, p.INK, weight="bold")

    return sample


_SAMPLES: dict[str, Callable[[Axes, float, float], None]] = {
    "active": _disc({"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE}),
    "idle": _disc({"facecolor": p.IDLE, "edgecolor": p.RULE, "linestyle": p.OUTSIDE_DASHES}),
    "read": _line("read"),
    "write": _line("write"),
    "atomic": _line("atomic"),
    "unwritten": _box(p.UNWRITTEN_CELL),
    "contested": _box(p.CONTESTED_CELL),
    "read_cell": _box(p.READ_CELL),
    "written_cell": _box(p.WRITTEN_CELL),
    "loaded": _box(p.LOADED_CELL),
    "stored": _box(p.STORED_CELL),
    "wasted": _box(p.WASTED_CELL),
    "outside": _box(p.OUTSIDE),
    "block": _box({"facecolor": p.SHADE, "edgecolor": p.QUIET, "linewidth": 1.4}),
    "ring0": _disc(p.RINGS[0]),
    "ring1": _disc(p.RINGS[1]),
    "star": _word("*"),
    "bold": _word("3"),
    "rounded": _word("≈"),
    "times": _word("×2"),
}
