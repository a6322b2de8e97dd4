"""The two sides of a transposition: where one warp loads, and where it stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count
from gpu_course.draw.execution.sectors import SECTOR_BYTES, Request
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, Look, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.15
_TOP = 0.92
_SMALL_CELL = 0.098
_PANEL = 32
"""Rows and columns of a matrix that `draw_sides` has room for."""


def draw_sides(
    load: Request, store: Request, shape: tuple[int, int], ax: Axes | None = None
) -> Figure:
    """Returns a matrix and its transposed one, and where one warp loads and stores.

    Args:
        load: what the warp asks of the matrix, and `store` what it writes to the transposed one.
        shape: (rows, columns) of the matrix, both multiples of 8, of at most 32.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: a shape that is not.
    """
    if any(side % 8 or not 8 <= side <= _PANEL for side in shape):
        raise CourseError(f"a matrix of shape {shape} cannot be drawn", "take sides of 8 to 32")
    high = max(shape) * _SMALL_CELL
    top = _TOP + 0.5
    height = top + high + 0.6
    moved = load.bytes_moved + store.bytes_moved
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        legend = Legend()
        asked = load.bytes_asked + store.bytes_asked
        words = f"one warp: {asked:,} bytes asked for, {moved:,} bytes moved"
        title(axes, _EDGE, "The two sides of a transposition", words, mono=False)
        legend.add("loaded", "loaded")
        legend.add("stored", "stored")
        left = 0.3
        _draw_side(axes, "load from a", load, shape, (left, top), legend)
        left = p.WIDEST / 2 + 0.25
        _draw_side(axes, "store to out", store, shape[::-1], (left, top), legend)
        legend.draw(axes, _EDGE, height - 0.24)
    return with_alt(figure, describe_sides(load, store))


def describe_sides(load: Request, store: Request) -> str:
    """Returns in words what `draw_sides` shows."""
    return (
        f"A matrix and its transposed one, with the cells of one warp. The load touches "
        f"{count(len(load.sectors), 'sector')} of the matrix, the store "
        f"{count(len(store.sectors), 'sector')} of the other."
    )


def _draw_side(
    axes: Axes,
    name: str,
    request: Request,
    shape: tuple[int, int],
    corner: tuple[float, float],
    legend: Legend,
) -> None:
    from matplotlib.patches import Rectangle

    (rows, cols), (left, top), cell = shape, corner, _SMALL_CELL
    axes.text(
        left, top - 0.36, name, fontsize=p.NORMAL, family="monospace", fontweight="bold",
        color=p.INK, va="center_baseline",
    )  # fmt: skip
    words = f"{count(len(request.sectors), 'sector')}, {request.bytes_moved:,} bytes moved"
    axes.text(
        left, top - 0.14, words, fontsize=p.SMALL + 0.5, color=p.QUIET, va="center_baseline"
    )  # fmt: skip
    plain: Look = {"facecolor": p.PAPER, "edgecolor": p.RULE, "linewidth": 0.6}
    for row in range(rows):
        for part in range(0, cols, 8):
            place = (left + part * cell, top + row * cell)
            axes.add_artist(Rectangle(place, 8 * cell, cell, zorder=2, **plain))
    asked = p.LOADED_CELL if request.kind == "read" else p.STORED_CELL
    for sector in request.sectors:
        row, col = divmod(sector * (SECTOR_BYTES // request.itemsize), cols)
        place = (left + col * cell, top + row * cell)
        axes.add_artist(Rectangle(place, 8 * cell, cell, zorder=3, **p.WASTED_CELL))
    if request.bytes_moved > request.bytes_asked:
        legend.add("wasted", "moved, and no lane asked for it")
    for address in request.addresses:
        if address is not None:
            row, col = divmod(address // request.itemsize, cols)
            place = (left + col * cell, top + row * cell)
            axes.add_artist(Rectangle(place, cell, cell, zorder=4, **asked))
    for sector in request.sectors:
        row, col = divmod(sector * (SECTOR_BYTES // request.itemsize), cols)
        place = (left + col * cell, top + row * cell)
        frame: Look = {"facecolor": "none", "edgecolor": p.INK, "linewidth": 1.0}
        axes.add_artist(Rectangle(place, 8 * cell, cell, zorder=5, **frame))
