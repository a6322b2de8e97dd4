"""Harness of puzzles whose answer refuses what cannot be: calls, each with its ValueError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.puzzle.harness import Unusable

REFUSED = "ValueError"


def run(answer: ModuleType, calls: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, Any]:
    """Returns {output: what each of its calls gave}; the word "ValueError" where one raised it.

    Args:
        answer: the learner's module.
        calls: output -> a list of (function, its arguments...).
    """
    return {name: [_result(answer, *call) for call in listed] for name, listed in calls.items()}


def _result(answer: ModuleType, function: str, *arguments: Any) -> Any:
    try:
        result = getattr(answer, function)(*arguments)
    except ValueError:
        return REFUSED
    if hasattr(result, "__next__"):
        raise Unusable(f"{function} returned a generator: it says yield where return is meant")
    return result
