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
    return result_of(answer, function, arguments, {})


def result_of(
    answer: ModuleType, function: str, arguments: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """Returns what a call of the answer gave; the word "ValueError" where it raised one.

    Args:
        answer: the learner's module.
        function: what is called.
        arguments, named: of the call.
    """
    try:
        result = getattr(answer, function)(*arguments, **named)
    except ValueError:
        return REFUSED
    if hasattr(result, "__next__"):
        raise Unusable(f"{function} returned a generator: it says yield where return is meant")
    return result


def named_results(
    answer: ModuleType, function: str, names: Sequence[str], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns {name: what a call gave}; each is the word "ValueError" where it raised one.

    Args:
        answer: the learner's module.
        function: what is called.
        names: of what it returns: one thing, or a tuple, a list, or a dict with these keys.
        arguments: of the call, by name.
    """
    result = result_of(answer, function, (), arguments)
    if isinstance(result, str) and result == REFUSED:
        return dict.fromkeys(names, REFUSED)
    if len(names) == 1:
        return {names[0]: result}
    if isinstance(result, dict) and set(result) == set(names):
        return {name: result[name] for name in names}
    if not isinstance(result, tuple | list) or len(result) != len(names):
        said = "None" if result is None else type(result).__name__
        fact = f"{function} returned {said} and not ({', '.join(names)})"
        raise Unusable(fact, "missing-output" if result is None else "wrong-type")
    return dict(zip(names, result, strict=True))
