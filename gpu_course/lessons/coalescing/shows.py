"""What the lesson on coalescing shows: the sectors of one request, and of a transposition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_course.draw.execution.sectors import draw_sectors, request_of_warp
from gpu_course.lessons.coalescing.pictures import draw_sides
from gpu_course.notebook.pictures import showing
from simt.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@showing
def show_sectors(
    report: Report, array: str, kind: str = "read", warp: int = 0, itemsize: int = 4
) -> Figure:
    """Shows the lanes of a warp and the sectors of global memory that one request touches.

    Args:
        report: of a launch of at most 4,096 threads.
        array: the name of an array of global memory in the kernel.
        kind: "read" or "write": the first of its kind is shown.
        warp: which warp of block 0.
        itemsize: bytes of an element of the array.
    """
    return draw_sectors(request_of_warp(report, array, kind, warp, itemsize))


@showing
def show_sides(report: Report, shape: tuple[int, int], warp: int = 0) -> Figure:
    """Shows where one warp of a transposition loads from `a` and where it stores to `out`.

    Args:
        report: of a launch of at most 4,096 threads, on float32.
        shape: (rows, columns) of `a`, both multiples of 8, of at most 32.
        warp: which warp of block 0.
    """
    load = request_of_warp(report, "a", "read", warp)
    store = request_of_warp(report, "out", "write", warp)
    return draw_sides(load, store, shape)
