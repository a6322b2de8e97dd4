"""What the lesson on shared memory shows: tiles that overlap, and a tile that turns a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_course.lessons.shared_memory.pictures import draw_halo, draw_transposition
from gpu_course.notebook.pictures import showing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@showing
def show_halo(size: int, block: int, frame: int) -> Figure:
    """Shows the tiles of neighbouring blocks under the array they are cut from.

    Args:
        size: cells of the array.
        block: results of a block.
        frame: cells that a tile holds more on each side.
    """
    return draw_halo(size, block, frame)


@showing
def show_transposition() -> Figure:
    """Shows a transposition thread by thread, and the same through a tile."""
    return draw_transposition()
