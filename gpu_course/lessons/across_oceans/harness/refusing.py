"""Harness of a function of plain numbers, for which a ValueError can be the right answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.puzzle.harness import Unusable

REFUSED = "ValueError"


def run(
    answer: ModuleType, function: str, names: Sequence[str], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns {name: what the answer gave}; each is the word "ValueError" where it raised one.

    Args:
        answer: the learner's module.
        function: what is called.
        names: of what it returns: a tuple, or a dict with these keys.
        arguments: of the call.
    """
    try:
        result = getattr(answer, function)(**arguments)
    except ValueError:
        return dict.fromkeys(names, REFUSED)
    if isinstance(result, dict) and set(result) == set(names):
        return {name: result[name] for name in names}
    if not isinstance(result, tuple | list) or len(result) != len(names):
        said = "None" if result is None else type(result).__name__
        fact = f"{function} returned {said} and not ({', '.join(names)})"
        raise Unusable(fact, "missing-output" if result is None else "wrong-type")
    return dict(zip(names, result, strict=True))
