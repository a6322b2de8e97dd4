"""Harness of a function of plain numbers, for which a ValueError can be the right answer."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def run(answer: ModuleType, function: str, refuses: bool, **inputs: Any) -> dict[str, Any]:
    """Returns {"result": ...}.

    Args:
        answer: the learner's module.
        function: what is called.
        refuses: True where a ValueError is the right answer; the result is its name then.
        inputs: by the names of its parameters.
    """
    call = getattr(answer, function)
    if not refuses:
        return {"result": call(**inputs)}
    try:
        return {"result": call(**inputs)}
    except ValueError:
        return {"result": "ValueError"}
