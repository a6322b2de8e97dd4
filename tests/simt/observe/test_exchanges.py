"""What lanes give each other is recorded, by those alone who follow a launch."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from simt.machine.observer import Observer
from simt.machine.schedule import RoundRobin
from simt.observe.recorder import Recorder
from simt.report import StepExchange
from simt.simulator import simulate
from simt.stepping import record

ALL = 0xFFFFFFFF


def shuffled(out, a, lane):
    i = cuda.grid(1)
    x = a[i]
    out[i] = cuda.shfl_sync(ALL, x, lane) + cuda.shfl_up_sync(ALL, x, 3)


def voted(out, a):
    i = cuda.grid(1)
    if cuda.threadIdx.x < 32:
        out[i] = cuda.ballot_sync(ALL, a[i] > 10)


def alone(out, a):
    i = cuda.grid(1)
    out[i] = a[i]


def numbers(size: int) -> np.ndarray:
    return np.random.default_rng(4).permutation(size).astype(np.float32)


def exchanges(kernel, grid, block, *arguments) -> list[StepExchange]:
    made = record(kernel)[grid, block](*arguments)
    return [each for step in made.steps for each in step.exchanges]


def test_both_shuffles_of_a_line_are_kept_in_order() -> None:
    a = numbers(64)
    first, second = exchanges(shuffled, 1, 64, np.zeros(64), a, 5)
    lanes = np.arange(64) % 32
    assert first.sources is not None and second.sources is not None
    assert first.threads.tolist() == list(range(64))
    assert (first.sources == 5).all()
    assert second.sources.tolist() == np.where(lanes < 3, lanes, lanes - 3).tolist()
    for each in (first, second):
        assert each.sent.tolist() == a.tolist()
        start = np.arange(64) // 32 * 32
        assert each.received.tolist() == a[start + each.sources].tolist()


def test_a_vote_has_no_source_and_only_the_lanes_that_are_there() -> None:
    a = numbers(64)
    (vote,) = exchanges(voted, 1, 64, np.zeros(64, np.int64), a)
    assert vote.sources is None and vote.threads.tolist() == list(range(32))
    assert vote.sent.tolist() == (a[:32] > 10).tolist()
    bits = sum(1 << lane for lane in range(32) if a[lane] > 10)
    assert {int(each) & ALL for each in vote.received} == {bits}


def test_threads_that_are_not_recorded_leave_nothing() -> None:
    a = numbers(64)
    recorder = Recorder((), range(32))
    report = simulate(shuffled, observers=(recorder,))[1, 64](np.zeros(64), a, 5)
    made = recorder.recording(report)
    found = [each for step in made.steps for each in step.exchanges]
    assert [each.threads.tolist() for each in found] == [list(range(32))] * 2


def test_warps_that_take_turns_are_told_with_their_own_threads() -> None:
    a = numbers(96)
    recorder = Recorder((), range(96))
    simulate(shuffled, observers=(recorder,), schedule=RoundRobin("warps"))[1, 96](
        np.zeros(96), a, 5
    )
    recorder.close_all()
    found = [each for step in recorder.steps for each in step.exchanges]
    assert sorted(each.threads.tolist()[0] for each in found) == [0, 0, 32, 32, 64, 64]
    for each in found:
        first = each.threads[0]
        assert each.sources is not None
        assert each.received.tolist() == a[first + each.sources].tolist()


def test_nothing_is_exchanged_where_nothing_is_shuffled() -> None:
    assert exchanges(alone, 1, 32, np.zeros(32), numbers(32)) == []


@pytest.mark.parametrize("follows", [False, True])
def test_only_those_who_follow_are_told(follows: bool) -> None:
    told: list[int] = []

    class Watching(Observer):
        def exchange(self, mask, sources, sent, received) -> None:
            told.append(mask.count)

    watching = Watching()
    watching.follows = follows
    simulate(shuffled, observers=(watching,))[1, 32](np.zeros(32), numbers(32), 0)
    assert told == ([32, 32] if follows else [])
