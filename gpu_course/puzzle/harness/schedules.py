"""Harness of the planning puzzles: asks the answer for a schedule, and hands it on as pairs.

What the schedule takes, the grader finds out by following it in its own process.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.measure.schedules.written import read, written
from gpu_course.puzzle.harness import Unusable


def run(
    answer: ModuleType,
    function: str,
    arguments: Sequence[Any],
    chain: str,
    stages: Sequence[Mapping[str, int]] | int,
    seed: int,
    slot_bytes: int = 1,
) -> dict[str, Any]:
    """Returns the answer's schedule.

    Args:
        answer: the learner's module.
        function: what of it plans.
        arguments: what the function gets.
        chain, stages, seed, slot_bytes: for whoever follows the schedule; unused here.
    """
    pairs = getattr(answer, function)(*copy.deepcopy(list(arguments)))
    if hasattr(pairs, "__next__"):
        pairs = list(pairs)
    try:
        return {"schedule": written(read(pairs))}
    except CourseError as error:
        raise Unusable(f"{function}: {error.fact}", "wrong-form") from error
