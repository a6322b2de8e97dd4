"""The network of a scan and the states of a look-back: what is drawn is what the run did."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure
from numba import cuda, float32

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.reductions_and_scans.pictures import (
    draw_look_back,
    draw_scan,
    scan_steps,
    source_of,
)
from gpu_course.lessons.reductions_and_scans.shows import states_over_time
from simt.machine.schedule import Ranked
from simt.observe.access_log import AccessLog
from simt.simulator import simulate
from simt.stepping import record
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable


@cuda.jit
def scan_eight(out, a):
    tile = cuda.shared.array((2, 8), float32)
    t = cuda.threadIdx.x
    x = a[t]
    now = 0
    step = 1
    while step < 8:
        tile[now, t] = x
        cuda.syncthreads()
        if t >= step:
            x += tile[now, t - step]
        now = 1 - now
        step *= 2
    out[t] = x


@cuda.jit
def tell(state):
    b = cuda.blockIdx.x
    cuda.atomic.exch(state, b, 1)
    if b > 0:
        while cuda.atomic.add(state, b - 1, 0) < 2:
            pass
    cuda.atomic.exch(state, b, 2)


def steps() -> tuple:
    powers = (2.0 ** np.arange(8)).astype(np.float32)
    return scan_steps(record(scan_eight, watch=("x",))[1, 8](np.zeros_like(powers), powers), "x")


@draws(draw_scan)
def a_scan() -> Figure:
    first = [frozenset({k}) for k in range(4)]
    return draw_scan([first, [frozenset(range(max(0, k - 1), k + 1)) for k in range(4)]])


@draws(draw_look_back)
def a_look_back() -> Figure:
    return draw_look_back([[0, 0, 0], [1, 0, 1], [2, 1, 1], [2, 2, 2]])


def test_each_step_adds_the_sum_of_the_lane_so_far_to_the_left() -> None:
    found = steps()
    assert len(found) == 4
    for number, step in enumerate((1, 2, 4)):
        for lane in range(8):
            before, now = found[number], found[number + 1]
            reach = frozenset(range(max(0, lane - 2 * step + 1), lane + 1))
            assert now[lane] == reach
            if lane >= step:
                assert source_of(before, now[lane], lane) == lane - step


def test_the_network_can_be_read_and_says_what_it_shows() -> None:
    figure = draw_scan(steps())
    assert_readable(figure)
    text = alt_text(figure)
    assert "after 3 steps every lane holds all numbers up to its own" in text
    assert "After step 1: lane 0 has 0, lane 1 has 0 to 1, lane 2 has 1 to 2" in text


def test_numbers_that_are_no_powers_of_two_are_refused() -> None:
    a = np.full(8, 0.5, np.float32)
    recording = record(scan_eight, watch=("x",))[1, 8](np.zeros_like(a), a)
    with pytest.raises(CourseError, match="no sum of powers of two"):
        scan_steps(recording, "x")


def test_the_states_of_a_run_grow_one_at_a_time_and_can_be_read() -> None:
    log, state = AccessLog(), np.zeros(5, np.int32)
    schedule = Ranked("threads", "accesses", seed=2, turns=3)
    assert simulate(tell, schedule=schedule, observers=(log,))[5, 1](state).ok
    moments = states_over_time(log.events, "state")
    assert moments[0] == [0] * 5 and moments[-1] == state.tolist() == [2] * 5
    for before, after in itertools.pairwise(moments):
        assert sum(a - b for a, b in zip(after, before, strict=True)) == 1
    figure = draw_look_back(moments, "5 tiles")
    assert_readable(figure)
    assert alt_text(figure).endswith("tile 4 prefix.")
    assert alt_text(figure).index("tile 0 prefix") < alt_text(figure).index("tile 1 prefix")


def test_too_many_tiles_are_refused() -> None:
    with pytest.raises(CourseError, match="too many"):
        draw_look_back([[0] * 17])
