"""Harness of `mfu`: calls the answer once for each run of a table."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from gpu_course.lessons.counting.harness.refusing import two_of


def run(answer: ModuleType, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns {"mfu": what the answer gave for each run, "hfu": the same}, in order.

    Both hold the word "ValueError" where it raised one.
    """
    given = [two_of(answer, "mfu", ("mfu", "hfu"), each) for each in runs]
    return {"mfu": [first for first, _ in given], "hfu": [second for _, second in given]}
