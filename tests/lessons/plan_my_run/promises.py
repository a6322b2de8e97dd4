"""What the stubs of lesson 30 promise of their input, and what holds it."""

from __future__ import annotations

from typing import Any

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _layouts(given: Values) -> list[dict[str, Any]]:
    """Every layout that a case of `predict_memory` asks for."""
    calls = [call for listed in given["calls"].values() for call in listed]
    return [call[2] for call in calls]


def _refused(given: Values) -> bool:
    return "refused" in given["calls"]


def _dense(given: Values) -> bool:
    return bool(given["calls"]["seconds"][1]["experts"] == 0)


def _none_fits(given: Values) -> bool:
    layouts = given["layouts"]
    return bool(layouts) and all(each["memory_bytes"] > given["limit_bytes"] for each in layouts)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "predict_memory": (
        Promise("predict_memory raises ValueError for a layout that cannot be", _refused),
        Promise(
            "a stage without a layer",
            lambda given: any(0 in layout["stages"] for layout in _layouts(given)),
        ),
        Promise(
            "for no more than a replica has",
            lambda given: any(len(layout["stages"]) == 5 for layout in _layouts(given)),
        ),
    ),
    "predict_step_time": (
        everywhere("it has no experts here", _dense),
        Promise(
            "0 for one stage",
            lambda given: len(given["calls"]["seconds"][2]["stages"]) == 1,
        ),
    ),
    "search": (
        everywhere("There are up to 600 layouts", lambda given: len(given["layouts"]) <= 600),
        Promise("or none", lambda given: not given["layouts"]),
        Promise("Where no layout fits, nothing may run", _none_fits),
    ),
}

ALIKE = {"search"}
"""What is right is told by what the runs of its list come to, and not by one list."""
