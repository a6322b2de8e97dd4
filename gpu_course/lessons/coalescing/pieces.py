"""What the kernel puzzles of lesson 03 share: their budgets, and what a transposition must cost."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Budget
from simt.observe.transactions import count_request

TPB = 64
WARP = 32
FLOAT_BYTES = 4

LOADS_AND_STORES = "global_load.excess_sectors + global_store.excess_sectors"


def loads_in_order(lesson: str) -> Budget:
    """Returns the budget of a puzzle whose loads can run along rows.

    A row that does not begin where a sector does costs even the best answer a sector more, so the
    reference's own count is the limit.

    Args:
        lesson: what the excess shows, and where to look.
    """
    return Budget(
        "global_load.excess_sectors",
        lambda case, counters: counters.global_load.excess_sectors,
        lesson,
        "excess sectors in loads",
    )


def stores_in_order(lesson: str) -> Budget:
    """Returns the same for stores."""
    return Budget(
        "global_store.excess_sectors",
        lambda case, counters: counters.global_store.excess_sectors,
        lesson,
        "excess sectors in stores",
    )


def one_sided_excess(rows: int, cols: int) -> int:
    """Returns the excess sectors of a transposition whose warps go along the rows of its input.

    Each warp loads up to 32 neighbours of a row and stores them down a column.

    >>> one_sided_excess(32, 32)
    896
    """
    row, col = (each.reshape(-1) for each in np.indices((rows, cols)))
    warps = row * -(-cols // WARP) + col // WARP
    ways = (row * cols + col, col * rows + row)
    return sum(
        count_request(cell * FLOAT_BYTES, warps, FLOAT_BYTES).excess_sectors for cell in ways
    )
