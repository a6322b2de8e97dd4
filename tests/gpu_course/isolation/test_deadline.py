"""A busy machine ends no answer that would have been in time by itself."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

import pytest

from gpu_course.isolation.deadline import MAX_GAP_S, MAX_TIMES, Deadline, WatchersClock, waited_s


@dataclass
class Machine:
    """A clock, and for how long each process had to wait."""

    now: float = 0.0
    waited: dict[int, float] = field(default_factory=dict)

    def deadline(self, *pids: int, seconds: float = 10.0) -> Deadline:
        return Deadline(
            pids,
            seconds,
            clock=lambda: self.now,
            waited=lambda pid: self.waited.get(pid, 0.0),
        )


@pytest.mark.parametrize(
    ("passed", "waited", "over"),
    [
        (9.0, {}, False),
        (11.0, {}, True),
        (11.0, {1: 2.0}, False),
        (13.0, {1: 2.0}, True),
        # Ranks wait for each other: what holds up one of them holds up all.
        (39.0, {1: 1.0, 2: 30.0}, False),
        (MAX_TIMES * 10 + 1, {1: 40.0}, True),
    ],
)
def test_the_time_without_a_processor_is_not_counted(
    passed: float, waited: dict[int, float], over: bool
) -> None:
    machine = Machine()
    deadline = machine.deadline(1, 2)
    machine.now, machine.waited = passed, waited
    assert deadline.is_over() is over


def test_what_a_process_waited_for_before_does_not_count() -> None:
    machine = Machine(waited={1: 100.0})
    deadline = machine.deadline(1)
    machine.now = 11.0
    assert deadline.is_over()


def test_a_time_in_which_nobody_looked_is_hardly_counted() -> None:
    machine = Machine()
    clock = WatchersClock(lambda: machine.now)
    deadline = Deadline((), 10.0, clock=clock)
    for _ in range(90):
        machine.now += 0.1
        assert not deadline.is_over()
    machine.now += 60.0  # The whole machine stood still.
    assert clock() == pytest.approx(9.0 + MAX_GAP_S)
    machine.now += 0.1
    assert deadline.is_over()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say")
def test_the_kernel_says_how_long_a_process_waited() -> None:
    before = waited_s(os.getpid())
    assert 0.0 <= before <= waited_s(os.getpid())


def test_a_process_that_is_gone_waits_for_nothing() -> None:
    assert waited_s(0) == 0.0
