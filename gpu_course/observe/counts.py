"""What needs only adding up: barriers, branches and operations per line, what a block takes."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gpu_course.simt.lanes import WARP, Mask
from gpu_course.simt.observer import Observer, Setting


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

    def branch(self, line: int, mask: Mask, taken: Mask, *, select: bool = False) -> None:
        """Adds one condition, unless it is a select."""
        if select:
            return
        self.branches[line] += mask.warp_count
        if taken is not mask and taken:
            self.divergent[line] += divergent_warps(mask.part.active, taken.part.active)


class Precision(Observer):
    """Counts arithmetic by line and kind."""

    def __init__(self) -> None:
        self.by_line: Counter[tuple[int, str]] = Counter()

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """Adds one operation done by so many lanes."""
        self.by_line[line, kind] += lanes


class Resources(Observer):
    """Notes the shared memory that a block needs, in bytes: 0 for a launch that never began."""

    def __init__(self) -> None:
        self.shared_bytes = 0

    def begin(self, setting: Setting) -> None:
        """Adds what the kernel declares and what the launch asks for."""
        self.shared_bytes = setting.code.static_shared_bytes + setting.dynamic_bytes
