"""Schedules as people write them: pairs of a word and a stage."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.measure.schedules.operations import Kind, Operation, Schedule

WORDS = tuple(kind.value for kind in Kind if kind is not Kind.drop)
"""What a puzzle's schedule may say."""


def written(schedule: Iterable[Operation]) -> list[tuple[str, int]]:
    """Returns a schedule as pairs of a word and a stage.

    >>> written([Operation(Kind.save_all, 0), Operation(Kind.backward, 0)])
    [('save all', 0), ('backward', 0)]
    """
    return [(str(operation.kind), operation.stage) for operation in schedule]


def read(pairs: Any) -> Schedule:
    """Returns the schedule that pairs of a word and a stage stand for.

    Args:
        pairs: such as [("save all", 0), ("backward", 0)].

    Raises:
        CourseError: something else than that; the first pair that is wrong is named.
    """
    if not isinstance(pairs, list | tuple):
        raise CourseError(
            "a schedule is a list of pairs, and this is "
            + ("None" if pairs is None else type(pairs).__name__),
            'such as [("save all", 0), ("backward", 0)]',
        )
    return tuple(_operation(number, pair) for number, pair in enumerate(pairs))


def _operation(number: int, pair: Any) -> Operation:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise CourseError(f"operation {number} is {pair!r}, no pair of a word and a stage")
    word, stage = pair
    if word not in WORDS or not isinstance(word, str):
        raise CourseError(
            f"operation {number} is {pair!r}; the words are {', '.join(map(repr, WORDS))}"
        )
    try:
        # NumPy's whole numbers are whole numbers; True is none.
        whole = operator.index(stage) if type(stage) is not bool else None
    except TypeError:
        whole = None
    if whole is None:
        raise CourseError(f"operation {number} is {pair!r}; a stage is a whole number")
    return Operation(Kind(word), whole)
