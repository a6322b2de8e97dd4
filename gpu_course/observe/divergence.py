"""Branches, and those at which the lanes of one warp part ways, per line."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gpu_course.simt.lanes import WARP, Mask
from gpu_course.simt.observer import Observer


def divergent_warps(mask: np.ndarray, taken: np.ndarray) -> int:
    """Returns how many warps have lanes of a mask on both sides of a branch.

    Args:
        mask, taken: bool (lanes,); `taken` is part of `mask`.

    >>> lanes = np.arange(64)
    >>> divergent_warps(lanes >= 0, lanes < 40)
    1
    """
    yes = taken.reshape(-1, WARP).any(axis=1)
    no = (mask & ~taken).reshape(-1, WARP).any(axis=1)
    return int(np.count_nonzero(yes & no))


class Divergence(Observer):
    """Counts branches by line, one for each warp that meets a condition."""

    def __init__(self) -> None:
        self.branches: Counter[int] = Counter()
        self.divergent: Counter[int] = Counter()

    def branch(self, line: int, mask: Mask, taken: Mask) -> None:
        """Adds one condition."""
        self.branches[line] += mask.warp_count
        if taken is not mask and taken:
            self.divergent[line] += divergent_warps(mask.active, taken.active)
