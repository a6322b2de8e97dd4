"""Harness of `mfu`: calls the answer once for each run of a table."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from gpu_course.puzzle.harness.refusing import named_results

NAMES = ("mfu", "hfu")


def run(answer: ModuleType, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns {"mfu": what the answer gave for each run, "hfu": the same}, in order.

    Both hold the word of a refusal where it raised a ValueError.
    """
    given = [named_results(answer, "mfu", NAMES, each) for each in runs]
    return {name: [each[name] for each in given] for name in NAMES}
