"""Which launches run compiled, and that nobody can tell by the report or the arrays."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from numba import cuda, float32, int32

from simt.compiled import filter as switch
from simt.compiled import glance, run, worth
from simt.compiled.kept import Kept
from simt.errors import OutOfBoundsError, UserError
from simt.machine import launch, unwritten
from simt.machine.faults import FaultLog
from simt.machine.schedule import RoundRobin
from simt.observe.shares import Shares
from simt.report import Report, Touch
from simt.simulator import simulate

TPB = 64


def scale(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * float32(2) + float32(1)


def tiled(out, a, n):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    total = float32(0)
    for k in range(n // TPB):
        tile[t] = a[k * TPB + t]
        cuda.syncthreads()
        for j in range(TPB):
            total += tile[j]
        cuda.syncthreads()
    if i < out.size:
        out[i] = total


def count(bins, a):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(bins, a[i], 1)


def table(out, a):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = a[y, x] + a[y, 0]


def stride(out, a):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + 1


def several_stores(out, a):
    i = cuda.grid(1)
    out[i // 2] = a[i]


def unset_tile(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    if t > 0:
        tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[t]


def parted(out, a):
    if cuda.threadIdx.x < 8:
        cuda.syncthreads()
    out[cuda.grid(1)] = a[0]


def from_the_end(out, a):
    out[cuda.grid(1)] = a[-1]


def past_the_end(out, a):
    i = cuda.grid(1)
    out[i] = a[i] * float32(2) + float32(1)


def endless(out, a):
    i, k = cuda.grid(1), 1
    while k > 0:
        k = k % 7 + 1
        out[i] = a[i] + k


def blocks_in_turn(out, n):
    i = cuda.grid(1)
    for b in range(cuda.gridDim.x):
        if cuda.blockIdx.x == b:
            for _ in range(n):
                out[i] += 1


def until(out, a):
    i = cuda.grid(1)
    most, total, k = a[i], float32(0), 0
    while total < most:
        for _ in range(int(most)):
            k += 1
        total += float32(1)
    out[i] = k


def told(out, a):
    i = cuda.grid(1)
    out[i] = a[i]
    if i == 3:
        print("three", i)


def parts(out, a, n):
    b = cuda.blockIdx.x
    total = 0.0
    for k in range(b * n, (b + 1) * n):
        total += a[k]
    out[cuda.grid(1)] = total


def turns(out, n):
    i = cuda.grid(1)
    total = int32(0)
    for k in range(n):
        total += k
    out[i] = total


def picked(out, a, k):
    i = cuda.grid(1)
    out[i] = a[k] + i


def floats(n: int = 2 * TPB) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(n).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """A launch: the kernel, its shape, its arguments, and what else `simulate` is told."""

    kernel: Any
    shape: tuple[Any, ...]
    arguments: Callable[[], tuple[Any, ...]]
    told: dict[str, Any]

    def run(self, **more: Any) -> tuple[Report, tuple[Any, ...]]:
        given = self.arguments()
        return simulate(self.kernel, **self.told, **more)[self.shape](*given), given


def case(kernel: Any, shape: Any, *arguments: Any, **told: Any) -> Case:
    def fresh() -> tuple[Any, ...]:
        return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments)

    return Case(kernel, shape, fresh, told)


NAN = np.full(2 * TPB, np.nan, np.float32)
BINS = np.random.default_rng(0).integers(0, 8, 3 * TPB)
CLEAN = {
    "a map": case(scale, (2, TPB), NAN, floats()),
    "without counters": case(scale, (2, TPB), NAN, floats(), counters=False),
    "more threads than touches are kept of": case(
        scale, (80, TPB), np.zeros(80 * TPB, np.float32), floats(80 * TPB)
    ),
    "warps that are not whole": case(scale, (3, 40), NAN[:120], floats(120)),
    "shared memory, more than a picture has values of": case(tiled, (2, TPB), NAN, floats(), 128),
    "atomics": case(count, (3, TPB), np.zeros(8, np.int64), BINS),
    "blocks in another order": case(count, (3, TPB), np.zeros(8, np.int64), BINS, order_seed=3),
    "the other policy": case(tiled, (2, TPB), NAN, floats(), 128, policy="foreign"),
    "rows of FORTRAN": case(
        table, ((1, 1), (8, 8)), np.zeros((8, 8)), np.asfortranarray(np.arange(64.0).reshape(8, 8))
    ),
    "several cells a thread": case(stride, (1, 32), NAN, floats()),
    "no cells at all": case(scale, (1, 32), NAN[:0], floats(0)),
}
FAULTY = {
    "past the end": case(past_the_end, (3, TPB), NAN, floats()),
    "several stores to a cell": case(several_stores, (2, TPB), NAN, floats()),
    "shared memory that nobody wrote": case(unset_tile, (1, TPB), NAN, floats()),
    "a barrier that some leave out": case(parted, (1, TPB), NAN, floats()),
    "a negative index": case(from_the_end, (2, TPB), NAN, floats()),
    "a negative index that is advice": case(
        from_the_end, (2, TPB), NAN, floats(), policy="foreign"
    ),
    "one value from several threads, advice": case(
        several_stores, (2, TPB), NAN, np.ones(2 * TPB, np.float32), policy="foreign"
    ),
    "no end": case(endless, (1, 32), np.zeros(32), np.ones(32), step_budget=2000),
    "steps of blocks that stand together": case(
        blocks_in_turn, (20, 32), np.zeros(640), 10, step_budget=500
    ),
}


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each compiled run of a test was clean; nothing is known of its kernels before."""
    found: list[bool] = []
    really = run.run

    def noted(*given: Any, **more: Any) -> Any:
        result = really(*given, **more)
        found.append(result is not None)
        return result

    monkeypatch.setattr(run, "run", noted)
    monkeypatch.setattr(switch, "_PLANS", Kept(switch.MAX_PLANS))
    monkeypatch.setattr(run, "_KERNELS", Kept(run.MAX_KERNELS))
    monkeypatch.delenv(switch.VARIABLE, raising=False)
    return found


def noting(really: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    """A function that also keeps what it is called with."""

    def called(*given: Any, **more: Any) -> Any:
        calls.append(given)
        return really(*given, **more)

    return called


def assert_same(one: Report, other: Report) -> None:
    """Both reports say the same of everything; arrays in touches bit for bit."""
    for each in fields(Report):
        if each.name not in ("touches", "hazards"):
            assert getattr(one, each.name) == getattr(other, each.name), each.name
    assert one.counters == other.counters
    assert repr(one) == repr(other)
    assert [(h.kind, h.severity, h.threads, h.line) for h in one.hazards] == [
        (h.kind, h.severity, h.threads, h.line) for h in other.hazards
    ]
    assert list(map(plain, one.touches)) == list(map(plain, other.touches))


def plain(touch: Touch) -> dict[str, Any]:
    return {
        name: (value.dtype, value.shape, value.tobytes())
        if isinstance(value, np.ndarray)
        else value
        for name, value in vars(touch).items()
    }


def bits(arguments: tuple[Any, ...]) -> list[bytes]:
    return [np.asarray(a).tobytes() for a in arguments]


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_launch_runs_compiled_and_says_the_same(name: str, attempts: list[bool]) -> None:
    interpreted, before = CLEAN[name].run(compiled=False)
    assert not attempts
    compiled, after = CLEAN[name].run(compiled=True)
    assert attempts == [True]
    assert interpreted.ok
    assert not interpreted.hazards
    assert_same(interpreted, compiled)
    assert bits(before) == bits(after)


def test_whole_reports_are_equal(attempts: list[bool]) -> None:
    big = CLEAN["more threads than touches are kept of"]
    assert big.run(compiled=True)[0] == big.run(compiled=False)[0]
    assert attempts == [True]


@pytest.mark.parametrize("name", FAULTY)
def test_a_suspicious_launch_is_interpreted(name: str, attempts: list[bool]) -> None:
    interpreted, before = FAULTY[name].run(compiled=False)
    compiled, after = FAULTY[name].run(compiled=True)
    assert attempts == [False]
    assert interpreted.hazards
    assert_same(interpreted, compiled)
    assert bits(before) == bits(after)


def test_the_first_error_is_raised_as_ever(attempts: list[bool]) -> None:
    with pytest.raises(OutOfBoundsError) as found:
        FAULTY["past the end"].run(compiled=True, raise_on_hazard=True)
    assert found.value.report.hazards
    assert attempts == [False]


@pytest.mark.parametrize(
    ("argument", "said", "expected"),
    [
        (None, None, False),
        (None, "", False),
        (None, "auto", False),
        (None, "off", False),
        (None, "always", True),
        (True, "off", True),
        (False, "always", False),
    ],
)
def test_who_decides(
    argument: bool | None,
    said: str | None,
    expected: bool,
    attempts: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if said is not None:
        monkeypatch.setenv("SIMT_COMPILED", said)
    CLEAN["a map"].run(compiled=argument)
    assert bool(attempts) is expected


def test_an_unknown_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_COMPILED", "perhaps")
    with pytest.raises(UserError, match="SIMT_COMPILED is 'perhaps'"):
        CLEAN["a map"].run()


STAY = {
    "a schedule": case(scale, (2, TPB), NAN, floats(), schedule=RoundRobin("warps")),
    "an observer": case(scale, (2, TPB), NAN, floats(), observers=(Shares(),)),
    "no races": case(scale, (2, TPB), NAN, floats(), detect_races=False),
    "printing": case(told, (1, 8), np.zeros(8), np.ones(8)),
    "every other cell": Case(
        scale, (1, 32), lambda: (np.zeros(64, np.float32)[::2], floats(32)), {}
    ),
    "backwards": Case(scale, (1, 32), lambda: (np.zeros(32, np.float32)[::-1], floats(32)), {}),
    "one cell for all": Case(
        scale, (1, 32), lambda: (np.zeros(32, np.float32), np.broadcast_to(floats(1), 32)), {}
    ),
    "memory that two share": Case(stride, (1, 32), lambda: (floats(64),) * 2, {}),
}


@pytest.mark.parametrize("name", STAY)
def test_what_stays_with_the_interpreter(name: str, attempts: list[bool]) -> None:
    one, before = STAY[name].run(compiled=True)
    assert not attempts
    other, after = STAY[name].run(compiled=False)
    assert_same(one, other)
    assert bits(before) == bits(after)


def test_what_stays_once_may_be_compiled_with_other_arguments(attempts: list[bool]) -> None:
    simulate(scale, compiled=True)[1, 32](np.zeros(64, np.float32)[::2], floats(32))
    simulate(scale, compiled=True)[1, 32](np.zeros(32, np.float32), floats(32))
    assert attempts == [True]


def test_a_kernel_that_no_code_is_made_of_is_tried_once(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(run, "kernel_of", noting(run.kernel_of, tried))
    for _ in range(3):
        simulate(told, compiled=True)[1, 8](np.zeros(8), np.ones(8))
    assert len(tried) == 1
    assert not attempts


def test_a_read_only_array_is_refused_as_ever(attempts: list[bool]) -> None:
    out = np.zeros(32, np.float32)
    out.flags.writeable = False
    with pytest.raises(UserError, match="read-only"):
        simulate(scale, compiled=True)[1, 32](out, floats(32))
    assert not attempts


def test_tensors_are_written_in_place(attempts: list[bool]) -> None:
    out, a = torch.zeros(TPB), torch.arange(TPB, dtype=torch.float32)
    simulate(scale, compiled=True)[1, TPB](out, a)
    assert attempts == [True]
    assert torch.equal(out, 2 * a + 1)


@pytest.mark.parametrize("kernel", [scale, past_the_end])
def test_it_is_known_what_has_been_written(kernel: Any, attempts: list[bool]) -> None:
    marks = []
    for compiled in (False, True):
        out, a = np.zeros(TPB, np.float32), floats(40)
        unwritten.begin(out)
        simulate(kernel, compiled=compiled)[1, TPB](out, a)
        written = unwritten.written_in(out)
        marks.append(None if written is None else written.tobytes())
    assert attempts == [kernel is scale]
    assert marks[0] == marks[1]


def test_a_clean_read_of_what_another_launch_wrote(attempts: list[bool]) -> None:
    half, out = np.zeros(TPB, np.float32), np.zeros(TPB, np.float32)
    unwritten.begin(half)
    ready = simulate(scale, compiled=True)
    ready[1, 32](half, floats(32))
    assert not ready[1, TPB](out, half[:32]).hazards
    assert not ready[1, TPB](out, half).ok  # the other half is still unset
    assert attempts == [True, True, False]


# Touches


def test_touches_are_found_when_they_are_asked_for(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    launches: list[Any] = []
    monkeypatch.setattr(launch, "run", noting(launch.run, launches))
    expected, _ = CLEAN["a map"].run(compiled=False)
    report, (out, a) = CLEAN["a map"].run(compiled=True)
    out[:], a[:] = 0, 0  # they are those of the launch, whatever comes after it
    assert report.by_line
    assert len(launches) == 2
    assert list(map(plain, report.touches)) == list(map(plain, expected.touches))
    assert report.touches is report.touches
    assert len(launches) == 3
    assert attempts == [True]


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r)), lambda r: replace(r)],
    ids=["copy", "deepcopy", "pickle", "replace"],
)
def test_a_copy_of_a_report_has_its_touches(
    copied: Callable[[Report], Report], attempts: list[bool]
) -> None:
    report, _ = CLEAN["a map"].run(compiled=True)
    again = copied(report)
    assert again.touches
    assert_same(again, report)
    assert attempts == [True]


def test_a_report_without_touches_needs_no_copies() -> None:
    report, _ = CLEAN["without counters"].run(compiled=True)
    assert report.touches == ()
    assert Report("k", "f.py", (), {}, report.launch).touches == ()


def test_arrays_too_large_to_be_kept_are_interpreted(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simt.simulator.MAX_BYTES_KEPT", 1 << 9)
    CLEAN["a map"].run(compiled=True)
    assert attempts == []
    CLEAN["without counters"].run(compiled=True)
    assert attempts == [True]


# Steps


def test_blocks_run_in_pieces_are_one_launch(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LANE_STEPS_AT_A_TIME", 1)
    for name in ("atomics", "shared memory, more than a picture has values of"):
        interpreted, before = CLEAN[name].run(compiled=False)
        compiled, after = CLEAN[name].run(compiled=True)
        assert_same(interpreted, compiled)
        assert bits(before) == bits(after)
    assert attempts == [True, True]


@pytest.mark.parametrize(("budget", "clean"), [(80, [True]), (70, [False])])
def test_turns_that_hang_on_data_are_counted(
    budget: int, clean: list[bool], attempts: list[bool]
) -> None:
    """All blocks of a batch spend its steps, each of them once, however many go that way."""
    most = np.full(20 * 32, 5, np.float32)
    most[100:200] = 3
    one = case(until, (20, 32), np.zeros(20 * 32), most, step_budget=budget)
    interpreted, before = one.run(compiled=False)
    compiled, after = one.run(compiled=True)
    assert attempts == clean
    assert interpreted.ok is clean[0]
    assert_same(interpreted, compiled)
    assert bits(before) == bits(after)


def test_a_room_that_a_suspicious_launch_leaves_is_not_used_again(attempts: list[bool]) -> None:
    ready = simulate(tiled, compiled=True)
    clean, _ = CLEAN["shared memory, more than a picture has values of"].run(compiled=False)
    arguments = CLEAN["shared memory, more than a picture has values of"].arguments
    for many in (128, 192, 128):
        out, a, _ = arguments()
        report = ready[2, TPB](out, a, many)
        if many == 128:
            assert_same(report, clean)
        else:
            assert not report.ok
    assert attempts == [True, False, True]


@pytest.mark.parametrize("where", ["Emitter", "Compiled", "_new_room"])
def test_what_nobody_has_thought_of_leaves_a_launch_to_the_interpreter(
    where: str, attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("expected a type")

    monkeypatch.setattr(run, where, fails)
    monkeypatch.setattr(run, "_MACHINE_CODE", Kept(run.MAX_KERNELS))
    one = CLEAN["shared memory, more than a picture has values of"]
    interpreted, before = one.run(compiled=False)
    for _ in range(2):
        compiled, after = one.run(compiled=True)
        assert_same(interpreted, compiled)
        assert bits(before) == bits(after)
    assert attempts == []
    (plan,) = switch._PLANS.found.values()
    assert plan.refused == "RuntimeError: expected a type"


ESTIMATED = {
    "no loop": (case(scale, (2, TPB), NAN, floats()), True),
    "loops in loops": (case(tiled, (2, TPB), NAN, floats(), 128), True),
    "one thread makes more turns": (case(stride, (1, 48), NAN, floats()), True),
    "a number from the host": (case(turns, (2, TPB), np.zeros(128, np.int32), 50), True),
    "each block another way": (case(blocks_in_turn, (4, 32), np.zeros(128), 10), False),
}


@pytest.mark.parametrize("name", ESTIMATED)
def test_no_batch_spends_more_steps_than_the_estimate_allows(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, exact = ESTIMATED[name]
    spent, found = [], []
    really = launch.run

    def noted(*given: Any, **more: Any) -> int:
        def look(setting: Any) -> bool:
            effort = worth.effort(setting.code, setting.grid, setting.block, setting.arguments)
            found.append(effort.most_steps)
            return False

        spent.append(really(*given, **{**more, "instead": look}))
        return spent[-1]

    monkeypatch.setattr(launch, "run", noted)
    one.run()
    assert found[0] is not None
    assert found[0] == spent[0] if exact else found[0] >= spent[0]


def test_a_loop_that_nobody_can_follow_has_no_bound() -> None:
    code = _code(endless, np.zeros(4), np.ones(4))
    found = worth.effort(code, (1, 1, 1), (4, 1, 1), {"out": None, "a": None})
    assert found.most_steps is None
    assert found.steps > worth.GUESSED_TURNS


def _code(kernel: Any, *arguments: Any) -> Any:
    from simt.kernel.lower import lower

    program = simulate(kernel).program
    return lower(program.written, tuple(map(launch.type_of, arguments)))


# When it pays


@pytest.fixture
def no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been compiled before."""
    monkeypatch.setattr(run, "_MACHINE_CODE", Kept(run.MAX_KERNELS))


@pytest.mark.usefixtures("no_code")
def test_a_first_launch_is_compiled_where_it_is_long(attempts: list[bool]) -> None:
    def launched(many: int) -> None:
        simulate(turns)[2, TPB](np.zeros(2 * TPB, np.int32), many)

    launched(10)
    assert attempts == []
    launched(100_000)  # far more than the compiler takes
    assert attempts == [True]
    launched(100)  # the code is there
    assert attempts == [True, True]


@pytest.mark.usefixtures("no_code")
def test_a_kernel_that_is_launched_again_and_again_is_compiled(attempts: list[bool]) -> None:
    ready = simulate(turns)[2, TPB]
    launches = 0
    while not attempts:
        ready(np.zeros(2 * TPB, np.int32), 300)
        launches += 1
    assert launches > 3
    (plan,) = switch._PLANS.found.values()
    (kernel,) = [made for _, made in run._KERNELS.found.values()]
    assert plan.spent_ms > worth.compiling_ms(kernel.text)


@pytest.mark.usefixtures("no_code")
def test_what_a_loop_took_is_remembered(attempts: list[bool]) -> None:
    """A loop whose turns nobody could guess counts as what it was."""
    out, a = np.zeros(32), np.ones(32)
    simulate(endless, step_budget=3000)[1, 32](out, a)
    (plan,) = switch._PLANS.found.values()
    (measured,) = plan.measured.values()
    before = measured.effort.steps
    measured.taken(3000)
    assert measured.effort.steps == pytest.approx(3000)
    assert before < 3000
    assert not attempts


@pytest.mark.usefixtures("no_code")
def test_what_each_block_took_of_a_loop_is_remembered(attempts: list[bool]) -> None:
    """Each has four turns of the thirty-two that may be between any two ends; the bound stays."""
    assert simulate(parts)[8, 32](np.zeros(256), np.ones(32), 4).ok
    (plan,) = switch._PLANS.found.values()
    (measured,) = plan.measured.values()
    assert measured.effort.most_steps is not None
    assert 0 < 4 * measured.effort.steps < measured.effort.most_steps
    assert not attempts


def test_suspicions_make_a_kernel_wait(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worth, "writing_ms", lambda code: 0.0)
    monkeypatch.setattr(worth, "compiling_ms", lambda text: 0.0)
    monkeypatch.setattr(switch, "CLEARLY", 0.0)
    ready = simulate(past_the_end)[1, TPB]
    tried_at = []
    for number in range(12):
        before = len(attempts)
        ready(np.zeros(TPB, np.float32), floats(40))
        if len(attempts) > before:
            tried_at.append(number)
    assert tried_at == [0, 2, 6]
    clean = np.zeros(TPB, np.float32), floats(TPB)
    while attempts[-1] is False:
        ready(*clean)
    assert attempts == [False, False, False, True]
    ready(*clean)
    assert attempts[-2:] == [True, True]


def test_where_there_is_no_compiler_everything_is_interpreted(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simt.compiled.jit.available", lambda: False)
    report, _ = CLEAN["a map"].run(compiled=True)
    assert report.ok
    assert not attempts


# When a launch is far longer than it looked


def counted_down(out, left):
    i = cuda.grid(1)
    n = left[i]
    while n > 0:
        n -= 1
        out[i] += 2
    out[i] += 1
    left[i] = n


def steps_out_at_last(out, left):
    i = cuda.grid(1)
    n = left[i]
    while n > 0:
        n -= 1
        out[i + (n == 0) * 64] += 2


def steps_out_at_once(out, left):
    i = cuda.grid(1)
    if i == 3:
        out[-1] = 0
    n = left[i]
    while n > 0:
        n -= 1
        out[i] += 2


@pytest.fixture
def soon(no_code: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling is expected to take next to nothing, once something has been interpreted."""
    monkeypatch.setattr(worth, "writing_ms", lambda code: 0.5)
    monkeypatch.setattr(worth, "compiling_ms", lambda text: 10.0)


def longer(kernel: Any, turns: int, blocks: int = 1, **told: Any) -> Case:
    left = np.full(blocks * TPB, turns)
    left[::3] -= 7
    return case(kernel, (blocks, TPB), np.zeros(blocks * TPB), left, **told)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("told", [{}, {"counters": False}, {"order_seed": 2}], ids=str)
def test_a_launch_far_longer_than_guessed_begins_anew(
    told: dict[str, Any], attempts: list[bool]
) -> None:
    one = longer(counted_down, 1500, **told)
    interpreted, before = one.run(compiled=False)
    found, after = one.run()
    assert attempts == [True]
    assert_same(interpreted, found)
    assert bits(before) == bits(after)
    assert (before[0] == 2 * one.arguments()[1] + 1).all()


@pytest.mark.usefixtures("soon")
def test_one_that_ends_about_where_it_was_guessed_is_interpreted(attempts: list[bool]) -> None:
    found, (out, _) = longer(counted_down, 2 * worth.GUESSED_TURNS).run()
    assert not attempts
    assert found.ok
    assert out[1] == 4 * worth.GUESSED_TURNS + 1


@pytest.mark.usefixtures("soon")
def test_of_many_batches_the_first_ones_tell(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In what one batch has taken there is no reason to begin anew, but in all that are to come."""
    monkeypatch.setattr(launch, "LANES_PER_BATCH", TPB)
    longer(counted_down, 60).run()
    assert not attempts
    one = longer(counted_down, 60, blocks=40)
    interpreted, before = one.run(compiled=False)
    found, after = one.run()
    assert attempts == [True]
    assert_same(interpreted, found)
    assert bits(before) == bits(after)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("kernel", "tried"), [(steps_out_at_last, [False]), (steps_out_at_once, [])]
)
def test_in_vain_or_where_something_is_wrong_the_interpreter_goes_on(
    kernel: Any, tried: list[bool], attempts: list[bool]
) -> None:
    one = longer(kernel, 1500)
    interpreted, before = one.run(compiled=False)
    found, after = one.run()
    assert attempts == tried
    assert not found.ok
    assert_same(interpreted, found)
    assert bits(before) == bits(after)


@pytest.mark.usefixtures("soon")
def test_the_interpreter_goes_on_with_the_budget_that_it_had(attempts: list[bool]) -> None:
    for budget in (4000, 3000):
        one = longer(steps_out_at_last, 700, step_budget=budget)
        interpreted, before = one.run(compiled=False)
        found, after = one.run()
        assert interpreted.finished is (budget == 4000)
        assert_same(interpreted, found)
        assert bits(before) == bits(after)
    assert attempts


@pytest.mark.usefixtures("soon")
def test_what_has_been_written_is_known_after_beginning_anew(attempts: list[bool]) -> None:
    marks = []
    for compiled in (False, None):
        out, left = np.zeros(2 * TPB), np.full(2 * TPB, 1500)
        unwritten.begin(out)
        simulate(counted_down_from_unset, compiled=compiled)[1, TPB](out, left)
        written = unwritten.written_in(out)
        assert written is not None
        marks.append(written.tobytes())
    assert attempts == [True]
    assert marks[0] == marks[1]


def counted_down_from_unset(out, left):
    i = cuda.grid(1)
    n = left[i]
    out[i] = 0
    while n > 0:
        n -= 1
        out[i] += 2


# When something is wrong early


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("cells", "budget", "seen"),
    [
        (3 * TPB, 250_000, False),
        (3 * TPB - 5, 250_000, True),  # the last block
        (TPB - 5, 250_000, True),  # all of them
        (3 * TPB - 5, 1, False),  # a look that ends before it comes to that
    ],
)
def test_a_fault_that_shows_early_is_seen_before_the_compiler_is_asked(
    cells: int,
    budget: int,
    seen: bool,
    attempts: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    really, looks, made = glance.shows_fault, [], []

    def looked(setting: Any, steps: int) -> bool:
        looks.append(really(setting, min(steps, budget)))
        return looks[-1]

    monkeypatch.setattr(glance, "shows_fault", looked)
    monkeypatch.setattr(run, "Compiled", noting(run.Compiled, made))
    one = case(added_up, (3, TPB), np.arange(float(cells)), 5_000)
    found, after = one.run(step_budget=1_000_000)
    assert looks == [seen]
    assert bool(made) is not seen
    assert attempts == [] if seen else [found.ok]
    assert found.ok is (cells == 3 * TPB)
    expected = np.arange(float(cells)) + 1 + 5_000 * 4_999 / 2
    assert after[0].tolist() == expected.tolist()


def added_up(out, n):
    i = cuda.grid(1)
    out[i] += 1
    total = 0
    for k in range(n):
        total += k
    out[i] += total


def test_a_look_sees_what_any_launch_shows() -> None:
    faulty = {name: each for name, each in FAULTY.items() if name not in LOOKED_AT_IN_VAIN}
    for cases, expected in ((CLEAN, False), (faulty, True)):
        for name, one in cases.items():
            setting = setting_of(one)
            assert glance.shows_fault(setting, 250_000) is expected, name


LOOKED_AT_IN_VAIN = {"no end", "steps of blocks that stand together"}
"""There the look ends, and nothing is known."""


def setting_of(one: Case) -> Any:
    settings = []

    def look(setting: Any) -> bool:
        settings.append(setting)
        return True

    told = {name: value for name, value in one.told.items() if name in ("order_seed",)}
    ready = simulate(one.kernel, **one.told)[one.shape]
    launch.run(
        ready.simulation.program,
        ready.grid,
        ready.block,
        one.arguments(),
        (),
        FaultLog(),
        step_budget=250_000,
        policy=ready.simulation.policy,
        instead=look,
        **told,
    )
    return settings[0]


# What is kept


def test_one_text_is_compiled_once(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(run, "Compiled", noting(run.Compiled, made))
    monkeypatch.setattr(run, "_MACHINE_CODE", Kept(2))
    monkeypatch.setattr(run, "_KERNELS", Kept(2))
    text = "from numba import cuda\n{}\ndef k(out):\n    out[cuda.grid(1)] = {}\n"
    for number, (above, value) in enumerate([("", 1), ("# moved", 1), ("", 2), ("", 3), ("", 2)]):
        path = tmp_path / f"{number}.py"
        path.write_text(text.format(above, value))
        out = np.zeros(32)
        report = simulate(f"{path}:k", compiled=True)[1, 32](out)
        assert (out == value).all()
        assert list(report.by_line) == [4]
    assert len(made) == 3
    assert len(run._KERNELS.found) == len(run._MACHINE_CODE.found) == 2
    assert attempts == [True] * 5


def test_threads_launch_one_kernel_at_the_same_time(attempts: list[bool]) -> None:
    expected, before = CLEAN["shared memory, more than a picture has values of"].run(compiled=False)

    def launched(_: int) -> tuple[Report, tuple[Any, ...]]:
        return CLEAN["shared memory, more than a picture has values of"].run(compiled=True)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(launched, range(24)))
    for report, after in found:
        assert report.by_line == expected.by_line
        assert bits(after) == bits(before)
    assert attempts == [True] * 24


FORKED = """
import os, sys
import numpy as np
from numba import cuda
from simt.compiled import run
from simt.simulator import simulate

def add(out, a):
    i = cuda.grid(1)
    out[i] = a[i] + 1

def launched(kernel):
    out = np.zeros(32)
    assert simulate(kernel, compiled=True)[1, 32](out, np.ones(32)).ok
    assert (out == 2).all()
    return len(run._KERNELS.found)

def more(out, a):
    i = cuda.grid(1)
    out[i] = 1 + a[i]

before = launched(add)
child = os.fork()
if not child:
    os._exit(0 if (launched(add), launched(more)) == (before, before + 1) else 1)
assert os.waitpid(child, 0)[1] == 0
assert launched(add) == before
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_runs_what_was_compiled_before(tmp_path: Any) -> None:
    path = tmp_path / "forked.py"
    path.write_text(FORKED)
    done = subprocess.run(
        [sys.executable, path], check=False, capture_output=True, text=True, cwd=os.getcwd(),
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
