"""What lesson 06 shows: the ladder, reuse in tiles, the saw-tooth, and what waits in a line."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.lessons.matmul.ladder import Rung, reuse
from gpu_course.lessons.matmul.tiles_and_waves import tiles_and_waves
from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture
from simt.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 32


def show_ladder(rungs: Sequence[Rung], speeds: Mapping[str, float], measured: str) -> None:
    """Shows the loads of each rung beside its measured speed.

    Args:
        rungs: as `climb` counts them.
        speeds: GFLOP/s by the name of a rung; rungs without one are left out.
        measured: whose measurement it is.
    """
    from gpu_course.lessons.matmul.pictures import draw_ladder

    known = [
        (rung.name, rung.global_loads, rung.shared_loads, speeds[rung.name])
        for rung in rungs
        if rung.name in speeds
    ]
    show(Picture(draw_ladder(known, measured)))


def reuse_picture(tile: int = 1) -> Figure:
    """Returns what a block and a thread load of two matrices of 16 by 16 through tiles."""
    from gpu_course.lessons.matmul.pictures import draw_reuse

    counted = reuse(tile)
    return draw_reuse(counted.side, counted.loads, counted.a, counted.b)


def saw_tooth(
    columns: int = 1536, rows: int = 2304, tile: str = "256 x 128", sms: int = 108
) -> Figure:
    """Returns the share of a GPU that a product can use, over the width of the result.

    Args:
        columns: the width to look at; a multiple of 32 is drawn.
        rows: of the result.
        tile: rows and columns of a tile, such as "128 x 64".
        sms: of the GPU.
    """
    from gpu_course.lessons.matmul.pictures import draw_waves

    high, wide = (int(side) for side in tile.split(" x "))
    at = max(STEP, columns // STEP * STEP)
    sizes = list(range(STEP, 6144 + 1, STEP))
    counted = {size: tiles_and_waves(rows, size, high, wide, sms) for size in sizes}
    words = f"{rows:,} rows, tiles of {high} by {wide}, {sms} SMs with one tile at a time each"
    shares = [counted[size][2] for size in sizes]
    return draw_waves(sizes, shares, at, words, counted[at][1])


def passes_by_line(report: Report, kernel: Any) -> str:
    """Returns a table of what each line asked of shared memory: passes, and how many were needed.

    Args:
        report: of a launch of the kernel.
        kernel: a function or a dispatcher whose text can be found.
    """
    text, first = inspect.getsourcelines(getattr(kernel, "py_func", kernel))
    told = [f"{'requests':>8} {'passes':>6} {'least':>6}  line"]
    for number, counters in sorted(report.by_line.items()):
        for each in (counters.shared_store, counters.shared_load):
            if each.requests:
                least = each.wavefronts - each.conflicts
                line = text[number - max(first, 1)].strip()
                told.append(f"{each.requests:>8} {each.wavefronts:>6} {least:>6}  {line}")
    return "\n".join(told)
