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
MAX_DRAWN = 16
"""Sectors of a request beside others that are drawn one by one; the rest are counted."""

_EDGE = 0.15
_LEFT = 0.66
_TOP = 0.92
_CELL = (p.WIDEST - _LEFT - _EDGE) / WARP
_SECTOR = _CELL * WARP / IN_A_ROW
_HIGH = 0.24
_ROW = 0.49
_NARROWEST_TEXT = 0.16


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

    @property
    def least_sectors(self) -> int:
        """The fewest sectors that could hold the bytes asked for."""
        return -(-self.bytes_asked // SECTOR_BYTES)

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


def draw_sectors(
    *requests: Request, ax: Axes | None = None, most: int = 0, words: str = ""
) -> Figure:
    """Returns the lanes of a warp and, below them, the sectors its request touches.

    A part of a sector that a lane asked for carries the number of the lane; what nobody asked for
    is hatched. Sectors that are not touched are left out.

    Args:
        requests: one above the other.
        ax: axes to draw on instead of a new figure.
        most: sectors of a request to draw, the others being counted; 0 for all.
        words: what is said of the requests in the second line; default what they move.
    """
    shown = [each.sectors[: most or None] for each in requests]
    left_out = [len(each.sectors) - len(few) for each, few in zip(requests, shown, strict=True)]
    heights = [
        0.86 + _ROW * -(-len(few) // IN_A_ROW) + 0.2 * (rest > 0)
        for few, rest in zip(shown, left_out, strict=True)
    ]
    height = _TOP + sum(heights) + 0.42
    if not words and len(requests) > 1:
        words = f"{len(requests)} requests, one above the other"
    if not words:
        (only,) = requests
        words = f"{only.bytes_asked:,} bytes asked for, {only.bytes_moved:,} bytes moved"
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        legend = Legend()
        title(axes, _EDGE, "Which sectors does a warp touch?", words, mono=False)
        top = _TOP
        for request, few, tall in zip(requests, shown, heights, strict=True):
            _draw_request(axes, request, few, top, legend)
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


def _draw_request(
    axes: Axes, request: Request, sectors: tuple[int, ...], top: float, legend: Legend
) -> None:
    words = (
        f"{count(len(request.sectors), 'sector')}: {request.bytes_moved:,} bytes moved for "
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
    if rest := len(request.sectors) - len(sectors):
        y = top + 0.86 + -(-len(sectors) // IN_A_ROW) * _ROW - 0.1
        more = f"... and {count(rest, 'more sector')}"
        axes.text(_LEFT, y, more, fontsize=p.SMALL, color=p.INK, va="center_baseline")


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
