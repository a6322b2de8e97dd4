"""Harnesses: what stands between a Python answer and the grader, inside the child process.

A module NAME here has `run(answer, **inputs) -> dict` and is named by PythonPuzzle.harness. It
calls the answer's functions as attributes of `answer`, and returns named outputs and measurements.
It holds no expected value and no reference solution, changes none of its inputs, and imports what
it needs from the course at module level: once the answer runs, nothing more of the course can be
imported, and what the harness has imported is all an answer could find of it.
"""

from __future__ import annotations

from typing import Any

from gpu_course.errors import Unusable

__all__ = ["Unusable", "name_of"]


def name_of(value: Any) -> str:
    """Returns what a value is, as a sentence names it: None, or its type.

    >>> name_of(None), name_of(2.0)
    ('None', 'float')
    """
    return "None" if value is None else type(value).__name__
