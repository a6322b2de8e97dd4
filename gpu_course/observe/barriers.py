"""Barriers reached and values exchanged, per line: one for each warp that takes part."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gpu_course.simt.lanes import Mask
from gpu_course.simt.observer import Observer


class Barriers(Observer):
    """Counts barriers and shuffles by line."""

    def __init__(self) -> None:
        self.by_line: Counter[int] = Counter()
        self.shuffles: Counter[int] = Counter()

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Adds one barrier."""
        self.by_line[line] += mask.warp_count

    def shuffle(self, line: int, mask: Mask) -> None:
        """Adds one shuffle."""
        self.shuffles[line] += mask.warp_count
