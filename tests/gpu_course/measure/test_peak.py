"""The peak of real computations against sums done by hand, and what else it promises."""

from __future__ import annotations

import gc
import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gpu_course.errors import CourseError
from gpu_course.measure import peak as peak_module
from gpu_course.measure.allocations import AllocationEvent, Recording, mark, record
from gpu_course.measure.peak import allocate_gradients, bytes_of, measure_peak
from tests.sampling import examples

KB = 1000


def floats(kilobytes: int) -> torch.Tensor:
    return torch.zeros(kilobytes * KB // 4)


def chain() -> None:
    a = floats(1)
    b = a.sin()
    del a
    b.sin()


def views() -> torch.Tensor:
    a = floats(2)
    return a.view(5, -1).t()[1:]


def in_place() -> torch.Tensor:
    return floats(3).cos_().sin_()


def replaced() -> torch.Tensor:
    held = floats(1)
    held = floats(1)
    return held


@pytest.mark.parametrize(
    ("run", "peak", "left"),
    [
        (lambda: None, 0, 0),
        (lambda: floats(1), 1 * KB, 1 * KB),
        (chain, 2 * KB, 0),
        (views, 2 * KB, 2 * KB),
        (in_place, 3 * KB, 3 * KB),
        (replaced, 2 * KB, 1 * KB),
        (lambda: (floats(1), floats(2)), 3 * KB, 3 * KB),
    ],
)
def test_peak_and_rest_are_those_counted_by_hand(run, peak, left) -> None:
    measured = measure_peak(run)
    assert (measured.peak_bytes, measured.left_bytes) == (peak, left)


@settings(max_examples=examples(60, few=15), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=25))
def test_any_sequence_of_taking_and_giving_back_is_counted(steps) -> None:
    """Each step puts so many kilobytes into one of five places; 0 leaves the place empty."""
    sizes, levels = dict.fromkeys(range(5), 0), [0]
    for place, kilobytes in steps:
        # The new block is there before the old one goes.
        levels.append(sum(sizes.values()) + kilobytes)
        sizes[place] = kilobytes
        levels.append(sum(sizes.values()))

    def run() -> dict[int, torch.Tensor]:
        held: dict[int, torch.Tensor] = {}
        for place, kilobytes in steps:
            held[place] = floats(kilobytes)
        return held

    peak = measure_peak(run)
    assert peak.peak_bytes == max(levels) * KB
    assert peak.left_bytes == levels[-1] * KB


def test_what_was_there_before_never_counts_even_when_the_run_gives_it_back() -> None:
    # Born inside an earlier measurement, so that the profiler knows it and reports its end.
    old = [measure_peak(lambda: floats(5)).value]

    def run() -> torch.Tensor:
        old.clear()
        return floats(1)

    measured = measure_peak(run)
    assert min(measured.live_bytes) >= 0
    assert (measured.peak_bytes, measured.left_bytes) == (1 * KB, 1 * KB)


def test_buffers_inside_an_operator_are_counted() -> None:
    x = torch.zeros(50, 20)
    # A number that stands beside a tensor becomes one: 8 bytes as int64, 4 more as float32.
    measured = measure_peak(lambda: x + 1)
    assert (measured.peak_bytes, measured.left_bytes) == (50 * 20 * 4 + 12, 50 * 20 * 4)


def test_gradients_in_flight_are_counted_and_their_places_are_not() -> None:
    layer, x = nn.Linear(300, 40), torch.randn(7, 300)
    allocate_gradients(layer)
    measured = measure_peak(lambda: layer(x).sum().backward())
    assert measured.left_bytes == 0
    # The weight's gradient is on its way while the one it is added to stays outside the count.
    assert measured.peak_bytes > 300 * 40 * 4
    largest = measured.at_peak()[0]
    assert (largest.bytes, largest.operators[-1]) == (300 * 40 * 4, "aten::mm")
    for parameter in layer.parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().sum() > 0


def test_without_their_places_gradients_are_what_is_left() -> None:
    layer, x = nn.Linear(30, 40), torch.randn(7, 30)
    measured = measure_peak(lambda: layer(x).sum().backward())
    assert measured.left_bytes == bytes_of(*(p.grad for p in layer.parameters())) == 31 * 40 * 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_same_run_gives_the_same_bytes_moment_by_moment(dtype) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Linear(32, 64), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(64), nn.Linear(64, 8)
    ).to(dtype)
    x = torch.randn(16, 32, dtype=dtype)
    allocate_gradients(net)
    runs = [measure_peak(lambda: net(x).float().logsumexp(-1).sum().backward()) for _ in range(3)]
    steps = [[(event.bytes, event.operators) for event in peak.events] for peak in runs]
    assert steps[0] == steps[1] == steps[2]
    assert runs[0].live_bytes == runs[1].live_bytes == runs[2].live_bytes
    assert runs[0].peak_bytes > 0


def test_live_bytes_are_the_sum_of_the_blocks_alive() -> None:
    net, x = nn.Sequential(nn.Linear(9, 17), nn.Tanh(), nn.Linear(17, 3)), torch.randn(5, 9)
    peak = measure_peak(lambda: net(x).sum().backward())
    for moment, live in enumerate(peak.live_bytes):
        assert sum(block.bytes for block in peak.at(moment)) == live
    assert sum(block.bytes for block in peak.at_peak()) == peak.peak_bytes
    assert peak.peak_bytes == peak.between(0, len(peak.events) - 1)


def test_a_block_that_was_given_back_unseen_is_gone_where_the_next_one_lies_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The profiler sees one thread, and another may be the last to hold a tensor."""
    steps = [(8, 100), (4, 200), (6, 100), (-6, 100)]
    events = tuple(AllocationEvent(size, address, ()) for size, address in steps)
    monkeypatch.setattr(peak_module, "record", lambda run, threads: Recording(run(), events))
    peak = measure_peak(lambda: None)
    assert peak.live_bytes == (8, 12, 10, 4)
    assert [(block.born, block.died) for block in peak.blocks] == [(0, 2), (1, None), (2, 3)]


def test_marks_stand_between_the_allocations_and_take_no_bytes() -> None:
    def run() -> torch.Tensor:
        with mark("first"):
            a = floats(1)
        with mark("second"):
            pass
        return a.sin()

    with_marks = measure_peak(run)
    assert [event.mark for event in with_marks.events if event.mark] == ["first", "second"]
    assert with_marks.blocks[0].marks == ("first",)
    assert with_marks.blocks[1].marks == ()
    assert with_marks.moments("second") == (2,)
    assert with_marks.peak_bytes == 2 * KB


def test_an_error_comes_through_and_leaves_nothing_switched_on() -> None:
    threads, collecting = torch.get_num_threads(), gc.isenabled()

    def run() -> None:
        floats(1)
        raise ZeroDivisionError("the run's own")

    with pytest.raises(ZeroDivisionError, match="the run's own"):
        measure_peak(run)
    assert (torch.get_num_threads(), gc.isenabled()) == (threads, collecting)
    assert measure_peak(lambda: floats(1)).peak_bytes == 1 * KB


def test_a_measurement_inside_a_measurement_is_refused() -> None:
    with pytest.raises(CourseError, match="a profiler is running already"):
        measure_peak(lambda: measure_peak(lambda: floats(1)))
    assert measure_peak(lambda: floats(1)).peak_bytes == 1 * KB


def test_the_run_has_the_threads_it_is_given() -> None:
    before = torch.get_num_threads()
    assert record(torch.get_num_threads).value == 1
    assert record(torch.get_num_threads, threads=None).value == before
    assert torch.get_num_threads() == before


def test_a_storage_counts_once_however_many_tensors_show_it() -> None:
    a, b = torch.zeros(10), torch.zeros(6, dtype=torch.int8)
    assert bytes_of(a, a, a[2:5], a.view(2, 5).t(), b, None, 3) == 46
    meta = [torch.zeros(10, device="meta"), torch.zeros(20, device="meta")]
    assert bytes_of(*meta) == 120
    assert bytes_of() == 0


def test_nothing_is_written_to_stderr_but_what_the_run_writes(capfd) -> None:
    def run() -> torch.Tensor:
        os.write(2, b"mine\n")
        return floats(1)

    measure_peak(run)
    assert capfd.readouterr().err == "mine\n"


def test_a_process_that_may_open_no_file_is_quiet_too(capfd, monkeypatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError

    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        assert measure_peak(lambda: floats(1)).peak_bytes == 1 * KB
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(before) == len(after)
    assert capfd.readouterr().err == ""
