"""Barriers reached, per line: one for each warp that waits there."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gpu_course.simt.lanes import Mask
from gpu_course.simt.launch import Observer


class Barriers(Observer):
    """Counts barriers by line."""

    def __init__(self) -> None:
        self.by_line: Counter[int] = Counter()

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Adds one barrier."""
        self.by_line[line] += mask.warp_count
