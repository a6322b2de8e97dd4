"""What a schedule may do with a checkpoint before its backward pass."""

from __future__ import annotations

import pytest

from gpu_course.measure.schedules.chain import uniform
from gpu_course.measure.schedules.operations import Kind, Operation, ScheduleError, account

KEEP, SAVE, DROP = Kind.keep_input, Kind.save_all, Kind.drop


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        ([(SAVE, 0), (SAVE, 1), (DROP, 1)], "belongs to what was saved"),
        ([(SAVE, 0), (DROP, 1)], "its input is no checkpoint"),
        ([(KEEP, 0), (DROP, 0)], "its input is no checkpoint"),
    ],
)
def test_what_cannot_be_dropped(begin: list[tuple[Kind, int]], words: str) -> None:
    with pytest.raises(ScheduleError, match=words):
        account(uniform(3), [Operation(*each) for each in begin])


def test_a_drop_takes_nothing_and_gives_its_bytes_back() -> None:
    begin = [Operation(Kind.forward, 0), Operation(KEEP, 1), Operation(KEEP, 2)]
    rest = [Operation(SAVE, stage) for stage in range(3)]
    rest += [Operation(Kind.backward, stage) for stage in (2, 1, 0)]
    without = account(uniform(3), [*begin, *rest])
    dropped = account(uniform(3), [*begin, Operation(DROP, 1), Operation(DROP, 2), *rest])
    assert dropped.cost == without.cost
    assert dropped.held[3:5] == (without.held[2] - 1, without.held[2] - 2)
