"""Schedules as pairs: read as they are written, and what is none is told of."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.operations import Kind, Operation
from gpu_course.measure.schedules.written import read, written


def test_schedules_are_read_as_they_are_written() -> None:
    schedule = plans.revolve(9, 3)
    assert read(written(schedule)) == schedule
    assert read([["save all", 0], ("backward", 0)])[1] == Operation(Kind.backward, 0)
    assert read([("save all", np.int64(3))]) == (Operation(Kind.save_all, 3),)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (None, "this is None"),
        ([("save all", 0), 3], "operation 1 is 3"),
        ([("drop", 0)], "the words are"),
        ([(["save all"], 0)], "the words are"),
        ([("forward", 1.0)], "a stage is a whole number"),
        ([("forward", True)], "a stage is a whole number"),
    ],
)
def test_what_is_no_schedule_is_told_of(pairs: object, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        read(pairs)
