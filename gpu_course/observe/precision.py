"""Floating-point operations by width, per line, one for each lane that does one."""

from __future__ import annotations

from collections import Counter

from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.launch import Setting
from gpu_course.simt.memory import Access


class Precision:
    """Counts arithmetic by line and kind."""

    def __init__(self) -> None:
        self.by_line: Counter[tuple[int, str]] = Counter()

    def begin(self, setting: Setting) -> None:
        """Nothing to prepare."""

    def batch(self, lanes: Lanes) -> None:
        """Lanes are only counted."""

    def access(self, access: Access) -> None:
        """Accesses compute nothing."""

    def branch(self, line: int, mask: Mask, taken: Mask) -> None:
        """Conditions are counted elsewhere."""

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """Adds one operation done by so many lanes."""
        self.by_line[line, kind] += lanes
