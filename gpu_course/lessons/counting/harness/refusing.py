"""Harness of puzzles whose answer refuses what cannot be: its two numbers, or its ValueError."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from gpu_course.puzzle.harness import Unusable

REFUSED = "ValueError"


def run(
    answer: ModuleType, function: str, names: tuple[str, str], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns {name: what the answer gave} for two names; the word "ValueError" where it raised.

    Args:
        answer: the learner's module.
        function: what to call.
        names: of the two numbers that it returns.
        arguments: of the call.
    """
    return dict(zip(names, two_of(answer, function, names, arguments), strict=True))


def two_of(
    answer: ModuleType, function: str, names: tuple[str, str], arguments: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Returns the two numbers that the answer gave, or the word twice."""
    try:
        result = getattr(answer, function)(**arguments)
    except ValueError:
        return REFUSED, REFUSED
    if not isinstance(result, tuple | list) or len(result) != 2:
        said = type(result).__name__
        raise Unusable(f"{function} returned {said} and not two numbers, ({', '.join(names)})")
    return result[0], result[1]
