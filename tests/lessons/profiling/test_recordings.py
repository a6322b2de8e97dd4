"""torch.profiler in a process of its own, and fresh recordings beside the stored ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.profiling import recording
from gpu_course.lessons.profiling.harness.traces import events_of
from gpu_course.lessons.profiling.planted import LOOPS, compact, recorded, recorded_by, varied
from gpu_course.lessons.profiling.recording import profiled, profiled_loops
from gpu_course.lessons.profiling.shows import calls, inside, live_bytes, marks_of
from gpu_course.puzzle import index
from tests.course.puzzles.python_rules import solution_of

pytestmark = pytest.mark.long(20)


@pytest.fixture(scope="module")
def fresh():
    """A fresh recording of each loop of the record, all in one process."""
    return profiled_loops(LOOPS)


def test_the_record_has_the_counts_of_a_fresh_recording(fresh) -> None:
    """With another PyTorch than the record's: python -m benchmarks.record_planted."""
    then, now_is = (each.partition("+")[0] for each in (recorded_by(), torch.__version__))
    if then != now_is:
        pytest.skip(f"the record was made by PyTorch {then}, and {now_is} may call other operators")
    for loop, trace, stored in zip(LOOPS, fresh, recorded(), strict=True):
        now = compact(loop, trace)
        assert now["plant"] == stored["plant"] == loop.plant
        counts = [Counter(each["names"][row[0]] for row in each["rows"]) for each in (now, stored)]
        assert counts[0] == counts[1], loop


def test_the_solution_finds_what_is_planted_in_fresh_recordings(fresh) -> None:
    solution = solution_of(index.find("find_the_bottleneck"))["find_the_bottleneck"]
    for loop, trace in zip(LOOPS, fresh, strict=True):
        drawn = varied(compact(loop, trace), np.random.default_rng(5))
        assert solution(events_of(**drawn)) == loop.plant, loop


def test_other_sizes_change_no_verdict() -> None:
    solution = solution_of(index.find("find_the_bottleneck"))["find_the_bottleneck"]
    loops = [replace(LOOPS[k], rows=6, sequence=9, width=24, heads=3) for k in (0, 5, 9, 13, 19)]
    for loop, trace in zip(loops, profiled_loops(loops), strict=True):
        drawn = varied(compact(loop, trace), np.random.default_rng(5))
        assert solution(events_of(**drawn)) == loop.plant, loop


def two_steps():
    import torch
    from torch.profiler import record_function

    weight = torch.ones(32, 32, requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    for number in range(2):
        with record_function(f"step {number}"):
            torch.nn.functional.linear(torch.ones(4, 32), weight).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


def test_a_function_is_profiled_in_another_process(capfd) -> None:
    trace = profiled(two_steps)
    assert calls(trace, "aten::linear") == 2
    assert inside(trace, "aten::linear") > 2
    # The library's own lines stay in that process.
    assert capfd.readouterr() == ("", "")
    live, marks = live_bytes(trace), marks_of(trace)
    assert [name for _, name in marks] == ["step 0", "step 1"]
    first, second = (live[at - 1] for at, _ in marks)
    # One tensor of weights; then two states beside it, and Adam's counter of four bytes.
    assert first == 32 * 32 * 4 and second == 3 * first + 4
    assert max(live) > second and min(live) >= 0


def it_names_what_it_has_not_got():
    return two_steps()


def it_raises():
    raise ValueError("too hot\nby far")


def test_what_goes_wrong_in_the_other_process_is_told_in_a_line() -> None:
    with pytest.raises(CourseError, match="name 'two_steps' is not defined"):
        profiled(it_names_what_it_has_not_got)
    with pytest.raises(CourseError) as raised:
        profiled(it_raises)
    assert raised.value.fact == "the profiled program stopped: by far"


def test_a_function_without_a_text_is_told_of() -> None:
    with pytest.raises(CourseError, match="the text of print is not to be found"):
        profiled(print)


def it_waits():
    import time

    time.sleep(60)


def test_what_never_ends_is_ended(monkeypatch) -> None:
    monkeypatch.setattr(recording, "DEADLINE_S", 0.2)
    with pytest.raises(CourseError, match="still running after 0 s"):
        profiled(it_waits)
