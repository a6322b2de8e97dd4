"""Harness for puzzles of several functions: calls each as it is told, and hands back what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.puzzle.harness import Unusable


def run(answer: ModuleType, calls: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Returns {output: result} of each call, in order.

    Args:
        answer: the learner's module.
        calls: output -> (function, its arguments...), such as {"flops": ("flops", 2, 3)}.
    """
    out = {}
    for name, (function, *arguments) in calls.items():
        out[name] = getattr(answer, function)(*arguments)
        if hasattr(out[name], "__next__"):
            raise Unusable(f"{function} returned a generator: it says yield where return is meant")
    return out
