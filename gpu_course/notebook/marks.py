"""What tests, and cells that wait, must know of a function that lessons call: marks on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Called = TypeVar("Called", bound=Callable[..., Any])


def asks_for_answers(function: Called) -> Called:
    """Marks a function that looks at the folder of answers, or at what is kept beside it.

    A cell that calls one may show something else in the learner's edition of a lesson than in the
    teacher's, so that the tests run it in both.
    """
    function.asks_for_answers = True  # type: ignore[attr-defined]
    return function


def tells_of_all_lessons(function: Called) -> Called:
    """Marks a function that, called without an argument, shows something of every lesson.

    What it shows changes with each lesson that is added, so no notebook stores it.
    """
    function.tells_of_all_lessons = True  # type: ignore[attr-defined]
    return function


def shown_at_once(function: Called) -> Called:
    """Marks a function that gives no answer of a prediction away.

    It asks, or speaks of a learner's own answer or of words. So a cell that only calls such
    functions is shown also below an answer that waits for a guess.
    """
    function.shown_at_once = True  # type: ignore[attr-defined]
    return function
