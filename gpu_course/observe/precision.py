"""Floating-point operations by width, per line, one for each lane that does one."""

from __future__ import annotations

from collections import Counter

from gpu_course.simt.observer import Observer


class Precision(Observer):
    """Counts arithmetic by line and kind."""

    def __init__(self) -> None:
        self.by_line: Counter[tuple[int, str]] = Counter()

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """Adds one operation done by so many lanes."""
        self.by_line[line, kind] += lanes
