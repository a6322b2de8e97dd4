"""Harness of puzzles whose answer refuses what cannot be: calls, each with its ValueError."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.puzzle.harness import Unusable

REFUSED = "ValueError"
TO_BE_REFUSED = "refused"
"""The output whose calls all ask for a ValueError."""
TOLD = "(a ValueError"
"""How a line begins that is printed of a ValueError, here and by no answer."""
MOST = 120
"""Of an error's words, how many characters are printed."""


def run(answer: ModuleType, calls: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, Any]:
    """Returns {output: what each of its calls gave}; the word "ValueError" where one raised it.

    Args:
        answer: the learner's module.
        calls: output -> a list of (function, its arguments...).
    """
    return {
        name: [
            result_of(answer, function, arguments, {}, told=name != TO_BE_REFUSED)
            for function, *arguments in listed
        ]
        for name, listed in calls.items()
    }


def result_of(
    answer: ModuleType,
    function: str,
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    told: bool = True,
) -> Any:
    """Returns what a call of the answer gave; the word "ValueError" where it raised one.

    Args:
        answer: the learner's module.
        function: what is called.
        arguments, named: of the call.
        told: True to print where the error came from and what it says: not every ValueError is
            meant as a refusal. A verdict shows it where a result was expected.
    """
    try:
        result = getattr(answer, function)(*arguments, **named)
    except ValueError as error:
        if told:
            _tell(answer, error)
        return REFUSED
    if hasattr(result, "__next__"):
        raise Unusable(f"{function} returned a generator: it says yield where return is meant")
    return result


def _tell(answer: ModuleType, error: ValueError) -> None:
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(answer, "__file__", None)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    where = f" in line {lines[-1]}" if lines else ""
    print(f"{TOLD}{where}: {str(error)[:MOST]})")


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
