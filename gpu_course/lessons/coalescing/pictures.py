"""One request to global memory: the 32 lanes of a warp, and the sectors that are moved for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.execution.banks import words_of_warp
from gpu_course.draw.execution.footprint import count, ranges
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import WARP, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SECTOR_BYTES = 32
SIZES = (1, 2, 4, 8, 16)
IN_A_ROW = 4
"""Sectors beside each other: 128 bytes, as wide as the lanes above when each asks for four."""

_EDGE = 0.15
_LEFT = 0.66
_TOP = 0.92
_CELL = (p.WIDEST - _LEFT - _EDGE) / WARP
_SECTOR = _CELL * WARP / IN_A_ROW
_HIGH = 0.24
_ROW = 0.49
_NARROWEST_TEXT = 0.16
_SMALL_CELL = 0.098
_PANEL = 32
"""Rows and columns of a matrix that `draw_sides` has room for."""


@dataclass(frozen=True)
class Request:
    """What the lanes of one warp ask for in one load or store.

    Attributes:
        addresses: for each lane the first byte it asks for, or None where it takes no part.
        itemsize: bytes each of them asks for: 1, 2, 4, 8 or 16.
        name: what it is called in the picture.
        kind: "read" or "write".
    """

    addresses: tuple[int | None, ...]
    itemsize: int = 4
    name: str = "a load"
    kind: str = "read"

    def __post_init__(self) -> None:
        asked = [each for each in self.addresses if each is not None]
        if self.itemsize not in SIZES or any(each < 0 or each % self.itemsize for each in asked):
            raise CourseError(
                f"{self.itemsize} bytes at the addresses {self.addresses!r} cannot be drawn",
                "an element has 1, 2, 4, 8 or 16 bytes and begins at a multiple of them",
            )
        if len(self.addresses) > WARP:
            raise CourseError(f"a warp has no {len(self.addresses)} lanes", "give 32 at most")

    @property
    def sectors(self) -> tuple[int, ...]:
        """The numbers of the sectors that are touched, in order.

        >>> Request(tuple(range(0, 256, 8))).sectors
        (0, 1, 2, 3, 4, 5, 6, 7)
        """
        asked = (each for each in self.addresses if each is not None)
        return tuple(sorted({each // SECTOR_BYTES for each in asked}))

    @property
    def bytes_asked(self) -> int:
        """The different bytes that the lanes ask for."""
        return len({each for each in self.addresses if each is not None}) * self.itemsize

    @property
    def bytes_moved(self) -> int:
        """The bytes of all the sectors that are touched."""
        return len(self.sectors) * SECTOR_BYTES

    def lanes_at(self, address: int) -> list[int]:
        """Returns the lanes whose element begins at an address."""
        return [lane for lane, each in enumerate(self.addresses) if each == address]


def request_of_warp(
    report: Report, array: str, kind: str = "read", warp: int = 0, itemsize: int = 4, name: str = ""
) -> Request:
    """Returns the first request of its kind that a warp made to an array.

    Args:
        report: of a launch of at most 4,096 threads.
        array: the name of an array of global memory in the kernel.
        kind: "read" or "write".
        warp: which warp of block 0.
        itemsize: bytes of an element of the array.
        name: what the picture calls it; default "read of a".

    Raises:
        CourseError: the warp made no such request.
    """
    cells = words_of_warp(report, array, kind, warp)
    addresses = tuple(None if cell is None else cell * itemsize for cell in cells)
    return Request(addresses, itemsize, name or f"{kind} of {array}", kind)


def draw_sectors(*requests: Request, ax: Axes | None = None) -> Figure:
    """Returns the lanes of a warp and, below them, the sectors its request touches.

    A part of a sector that a lane asked for carries the number of the lane; what nobody asked for
    is hatched. Sectors that are not touched are left out.

    Args:
        requests: one above the other.
        ax: axes to draw on instead of a new figure.
    """
    heights = [0.86 + _ROW * -(-len(each.sectors) // IN_A_ROW) for each in requests]
    height = _TOP + sum(heights) + 0.42
    words = f"{len(requests)} requests, one above the other"
    if len(requests) == 1:
        (only,) = requests
        words = f"{only.bytes_asked:,} bytes asked for, {only.bytes_moved:,} bytes moved"
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        legend = Legend()
        title(axes, _EDGE, "Which sectors does a warp touch?", words, mono=False)
        top = _TOP
        for request, tall in zip(requests, heights, strict=True):
            _draw_request(axes, request, top, legend)
            top += tall
        legend.draw(axes, _EDGE, height - 0.24)
    return with_alt(figure, describe_sectors(*requests))


def describe_sectors(*requests: Request) -> str:
    """Returns in words what `draw_sectors` shows."""
    said = []
    for each in requests:
        lanes = [lane for lane, address in enumerate(each.addresses) if address is not None]
        sectors = each.sectors
        said.append(
            f"{each.name}: {count(len(lanes), 'lane')} of a warp touch "
            f"{count(len(sectors), 'sector')}, {each.bytes_moved:,} bytes for "
            f"{each.bytes_asked:,} asked for."
        )
        if sectors:
            first = sectors[0] * SECTOR_BYTES
            here = [
                lane
                for lane, address in enumerate(each.addresses)
                if address is not None and address // SECTOR_BYTES == sectors[0]
            ]
            who = f"lane{'s' * (len(here) > 1)} {ranges(here)}"
            said.append(f"The sector at byte {first:,} serves {who}.")
    return " ".join(said)


def _draw_request(axes: Axes, request: Request, top: float, legend: Legend) -> None:
    sectors = request.sectors
    words = (
        f"{count(len(sectors), 'sector')}: {request.bytes_moved:,} bytes moved for "
        f"{request.bytes_asked:,}"
    )
    axes.text(
        _LEFT, top, request.name, fontsize=p.NORMAL, family="monospace", fontweight="bold",
        color=p.INK, va="center_baseline",
    )  # fmt: skip
    axes.text(
        p.WIDEST - _EDGE, top, words, fontsize=p.NORMAL, color=p.QUIET, ha="right",
        va="center_baseline",
    )  # fmt: skip
    look, what = (p.READ_CELL, "read") if request.kind == "read" else (p.WRITTEN_CELL, "written")
    key = "read_cell" if request.kind == "read" else "written_cell"
    y = top + 0.3
    row_label(axes, _LEFT - 0.1, y, "lane")
    lanes: Sequence[int | None] = (*request.addresses, *[None] * (WARP - len(request.addresses)))
    for lane, address in enumerate(lanes):
        here: Look = p.UNTOUCHED_CELL if address is None else look
        x = _LEFT + (lane + 0.5) * _CELL
        square(axes, x, y, _CELL * 0.92, here, _HIGH)
        if address is not None:
            cell_text(axes, x, y, str(lane), p.INK)
    for number, sector in enumerate(sectors):
        left = _LEFT + number % IN_A_ROW * _SECTOR
        y = top + 0.86 + number // IN_A_ROW * _ROW
        _draw_sector(axes, request, sector, left, y, look, legend, (key, what))


def _draw_sector(
    axes: Axes,
    request: Request,
    sector: int,
    left: float,
    y: float,
    look: Look,
    legend: Legend,
    meaning: tuple[str, str],
) -> None:
    from matplotlib.patches import Rectangle

    first, places = sector * SECTOR_BYTES, SECTOR_BYTES // request.itemsize
    wide = (_SECTOR - 0.06) / places
    cell_text(axes, left + _SECTOR / 2, y - 0.2, f"byte {first:,}", p.QUIET)
    for place in range(places):
        lanes = request.lanes_at(first + place * request.itemsize)
        x = left + 0.03 + (place + 0.5) * wide
        square(axes, x, y, wide, look if lanes else p.WASTED_CELL, _HIGH)
        if not lanes:
            legend.add("wasted", "moved, and no lane asked for it")
            continue
        legend.add(meaning[0], f"{meaning[1]} by this lane")
        if len(lanes) > 1:
            legend.add("bold", "this lane, and others that ask for the same")
        if wide >= _NARROWEST_TEXT:
            cell_text(axes, x, y, str(lanes[0]), p.INK, weight="bold" if lanes[1:] else "normal")
    frame: Look = {"facecolor": "none", "edgecolor": p.INK, "linewidth": 1.3, "zorder": 4}
    axes.add_artist(Rectangle((left + 0.03, y - _HIGH / 2), _SECTOR - 0.06, _HIGH, **frame))


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
