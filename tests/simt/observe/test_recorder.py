"""A recording tells what the interpreter did: statement by statement, as one thread alone would."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt import tiny
from simt.observe.recorder import MAX_THREADS, Recorder
from simt.report import Recording
from simt.simulator import simulate
from simt.stepping import record, threads_to_record
from tests.simt.observe.stepped import TEXT, write_kernels
from tests.simt.oracle import run_serially


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kernels(tmp_path_factory.mktemp("kernels"))


def numbers(size: int, dtype: Any = np.int64) -> np.ndarray:
    return np.random.default_rng(5).permutation(size).astype(dtype)


# (kernel, grid, block, size of the arrays, what is handed over besides)
LAUNCHES = [
    ("diverge", 1, 8, 8, ()),
    ("diverge", 3, 5, 15, ()),
    ("turns", 2, 8, 16, (16,)),
    ("turns", 1, 40, 40, (40,)),
    ("tile", 2, 8, 11, (11,)),
]
WATCH = {
    "diverge": ("i", "x", "y"),
    "turns": ("i", "total", "k", "j"),
    "tile": ("i", "t", "total"),
}


class Tracer:
    """Writes down, for every thread of the oracle, each line it comes to and what it holds after.

    Threads are told apart by their frames, which start in the order of their numbers.
    """

    def __init__(self, name: str, first_line: int, watch: tuple[str, ...]) -> None:
        self.name = name
        self.first_line = first_line
        self.watch = watch
        self.frames: list[FrameType] = []
        self.lines: list[list[tuple[int, dict[str, Any]]]] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != tiny.FILE or code.co_name != self.name:
            return None
        if frame not in self.frames:
            self.frames.append(frame)
            self.lines.append([])
        seen = self.lines[self.frames.index(frame)]
        if seen:
            held = {n: frame.f_locals[n] for n in self.watch if n in frame.f_locals}
            seen[-1] = (seen[-1][0], held)
        again = bool(seen) and seen[-1][0] == frame.f_lineno and event == "call"
        if event == "line" and frame.f_lineno > self.first_line and not again:
            seen.append((frame.f_lineno, {}))
        return self


def traced(name: str, grid: int, block: int, *arguments: Any) -> Tracer:
    first = TEXT[: TEXT.index(f"def {name}(")].count("\n") + 1
    tracer = Tracer(name, first, WATCH[name])
    # The oracle brings its own cuda; the lines keep their numbers.
    text = "\n".join("" if "import" in line else line for line in TEXT.splitlines())
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        run_serially(text, name, (grid, 1, 1), (block, 1, 1), *arguments)
    finally:
        sys.settrace(before)
    return tracer


def lines_of(recording: Recording, thread: int) -> list[tuple[int, dict[str, Any]]]:
    """What one thread did, read out of a recording."""
    place = int(np.searchsorted(recording.threads, thread))
    found = []
    for step in recording.steps:
        if thread in step.threads:
            held = {
                name: one.values[place].item()
                for name, one in step.held.items()
                if one.known[place]
            }
            found.append((step.line, held))
    return found


@pytest.mark.parametrize(("name", "grid", "block", "size", "more"), LAUNCHES)
def test_every_thread_did_what_it_does_alone(
    kernels: Path, name: str, grid: int, block: int, size: int, more: tuple[int, ...]
) -> None:
    a, out, expected = numbers(size), np.full(size, -1), np.full(size, -1)
    recording = record(f"{kernels}:{name}", WATCH[name])[grid, block](out, a, *more)
    tracer = traced(name, grid, block, expected, a, *more)
    assert np.array_equal(out, expected)
    assert len(tracer.lines) == grid * block
    skipped = {n for n, line in enumerate(TEXT.splitlines(), 1) if "shared.array" in line}
    for thread, wanted in enumerate(tracer.lines):
        mine = [entry for entry in lines_of(recording, thread) if entry[0] not in skipped]
        assert mine == [entry for entry in wanted if entry[0] not in skipped], thread


@pytest.mark.parametrize(("name", "grid", "block", "size", "more"), LAUNCHES)
def test_arrays_hold_at_the_end_what_the_launch_left_there(
    kernels: Path, name: str, grid: int, block: int, size: int, more: tuple[int, ...]
) -> None:
    a, out = numbers(size), np.full(size, -1)
    recording = record(f"{kernels}:{name}")[grid, block](out, a, *more)
    values, known = recording.contents("out", len(recording.steps) - 1, 0)
    assert known.all() and np.array_equal(values, out)
    values, _ = recording.contents("out", -1, 0)
    assert np.array_equal(values, np.full(size, -1))
    reads = [x for s in recording.steps for x in s.accesses if x.array == "a"]
    assert reads and all(np.array_equal(a[x.cells], x.values) for x in reads)


def test_each_block_has_a_shared_array_of_its_own(kernels: Path) -> None:
    a, out = numbers(11), np.zeros(11, np.int64)
    recording = record(f"{kernels}:tile")[2, 8](out, a, 11)
    last = len(recording.steps) - 1
    first, known = recording.contents("s", last, 0)
    assert known.all() and np.array_equal(first, a[:8])
    second, known = recording.contents("s", last, 1)
    assert known.tolist() == [True] * 3 + [False] * 5 and np.array_equal(second[:3], a[8:])
    assert not recording.contents("s", 0, 0)[1].any()


def test_what_warps_pay_adds_up_to_the_counters(kernels: Path) -> None:
    arguments = np.zeros(64, np.float32), numbers(128, np.float32)
    report = simulate(f"{kernels}:conflicts")[1, 64](*(a.copy() for a in arguments))
    recording = record(f"{kernels}:conflicts")[1, 64](*arguments)
    paid: dict[tuple[str, str], list[int]] = {}
    for access in (x for s in recording.steps for x in s.accesses):
        both = paid.setdefault((access.space, access.kind), [0, 0])
        both[0] += sum(access.cost.values())
        both[1] += sum(access.cost.values()) - sum(access.least.values())
    counters = report.counters
    assert paid["global", "read"] == [
        counters.global_load.sectors,
        counters.global_load.excess_sectors,
    ]
    assert paid["shared", "write"] == [
        counters.shared_store.wavefronts,
        counters.shared_store.conflicts,
    ]
    assert paid["shared", "write"][1] > 0 and paid["global", "read"][1] > 0


# (kernel, block, the kind of hazard, a piece of its line, the threads it strikes)
STRIKES = [
    ("tile_without_barrier", 8, "race", "total += s[t - 1]", list(range(1, 8))),
    ("past_the_end", 10, "out-of-bounds", "x = a[i]", [8, 9]),
    ("past_the_end", 10, "out-of-bounds", "out[i] = x", [8, 9]),
    ("from_nowhere", 8, "uninitialised-read", "out[t] = s[t]", list(range(8))),
]


@pytest.mark.parametrize(("name", "block", "kind", "line", "threads"), STRIKES)
def test_a_hazard_strikes_at_its_step(
    kernels: Path, name: str, block: int, kind: str, line: str, threads: list[int]
) -> None:
    out, a = np.zeros(8, np.int64), numbers(8)
    more = (8,) if "tile" in name else ()
    recording = record(f"{kernels}:{name}")[1, block](out, a, *more)
    report = simulate(f"{kernels}:{name}")[1, block](out, a, *more)
    found = [
        (recording.hazards[hazard], struck.tolist(), step)
        for step in recording.steps
        for hazard, struck in step.struck
    ]
    here = [f for f in found if line in recording.texts[name].lines[f[2].line]]
    assert [(h.kind, struck) for h, struck, _ in here] == [(kind, threads)]
    assert {h.text() for h in recording.hazards} == {h.text() for h in report.hazards}


def test_a_clean_launch_is_struck_by_nothing(kernels: Path) -> None:
    recording = record(f"{kernels}:tile")[2, 8](np.zeros(11, np.int64), numbers(11), 11)
    assert recording.hazards == () and not any(step.struck for step in recording.steps)


def test_a_condition_says_who_found_it_true(kernels: Path) -> None:
    recording = record(f"{kernels}:diverge")[1, 6](np.zeros(6, np.int64), numbers(6))
    tests = [s for s in recording.steps if s.taken is not None]
    assert [(s.threads.tolist(), s.taken.tolist()) for s in tests if s.taken is not None] == [
        ([0, 1, 2, 3, 4, 5], [0, 3]),
        ([1, 2, 4, 5], [1, 4]),
    ]


def test_a_barrier_and_an_atomic_are_told(kernels: Path) -> None:
    recording = record(f"{kernels}:tile")[1, 8](np.zeros(8, np.int64), numbers(8), 8)
    (met,) = (s for s in recording.steps if s.meetings)
    assert met.meetings == ("barrier",)
    assert "syncthreads" in recording.texts["tile"].lines[met.line]
    bins = np.zeros(2, np.int64)
    recording = record(f"{kernels}:count")[1, 8](bins, numbers(8))
    (atomic,) = (x for s in recording.steps for x in s.accesses if x.kind == "atomic")
    assert sorted(atomic.cells.tolist()) == [0] * 4 + [1] * 4
    assert atomic.values.tolist() == [4] * 8  # what is left there


def test_the_store_after_a_call_belongs_to_the_caller(kernels: Path) -> None:
    recording = record(f"{kernels}:calls")[1, 4](np.zeros(4), numbers(4, np.float64))
    steps = [(s.function, [x.kind for x in s.accesses]) for s in recording.steps]
    assert steps == [
        ("calls", []),
        ("twice", []),
        ("twice", []),
        ("calls", ["read", "write"]),
    ]
    assert set(recording.texts) == {"calls", "twice"}


def test_a_warp_sees_its_own_steps_only(kernels: Path) -> None:
    recording = record(f"{kernels}:tile")[2, 8](np.zeros(8, np.int64), numbers(8), 8)
    first, second = recording.track([0]), recording.track([1])
    assert set(first) - set(second) and set(second) - set(first)
    assert set(recording.track([0, 1])) == {*first, *second}
    assert all((recording.steps[k].threads >= 8).any() for k in second)


# Bounds


def test_a_large_launch_keeps_whole_blocks_and_says_so(kernels: Path) -> None:
    n = 100 * 64
    a, out = numbers(n), np.zeros(n, np.int64)
    recording = record(f"{kernels}:past_the_end", block=7)[100, 64](out, a)
    assert np.array_equal(out, a)
    assert recording.threads.size == MAX_THREADS
    assert recording.threads[0] == 7 * 64 and recording.threads[-1] == 23 * 64 - 1
    assert len(recording.steps) == 3


def test_steps_beyond_the_bound_are_counted(kernels: Path) -> None:
    recorder = Recorder((), range(8), most_steps=5)
    simulation = simulate(f"{kernels}:turns", observers=(recorder,))
    report = simulation[1, 8](np.zeros(8, np.int64), numbers(8), 8)
    recording = recorder.recording(report)
    whole = record(f"{kernels}:turns")[1, 8](np.zeros(8, np.int64), numbers(8), 8)
    assert len(recording.steps) == 5 and recording.steps_taken == len(whole.steps) > 5


def test_the_first_block_is_kept_where_all_fit() -> None:
    assert threads_to_record((2, 1, 1), (8, 1, 1), 1) == range(16)
    with pytest.raises(CourseError, match="there is no block 2"):
        threads_to_record((2, 1, 1), (8, 1, 1), 2)


def test_a_name_that_is_not_there_is_refused_with_those_that_are(kernels: Path) -> None:
    with pytest.raises(CourseError, match="tile has no variable nope") as error:
        record(f"{kernels}:tile", ("i", "nope"))
    assert "total" in str(error.value) and "size" in str(error.value)


def test_a_check_follows_no_statement(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recording costs nothing where nobody asks for it."""
    from simt.machine.interpreter import Interpreter

    made: list[Interpreter] = []
    real = Interpreter.run

    def run(self: Interpreter, *given: Any) -> None:
        made.append(self)
        real(self, *given)

    monkeypatch.setattr(Interpreter, "run", run)
    simulate(f"{kernels}:past_the_end")[1, 8](np.zeros(8, np.int64), numbers(8))
    record(f"{kernels}:past_the_end")[1, 8](np.zeros(8, np.int64), numbers(8))
    assert [i.audience.follows for i in made] == [False, True]


def test_an_assertion_is_a_step_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n\n@cuda.jit\ndef kernel(out, n):\n"
        "    i = cuda.grid(1)\n    assert i < n\n    out[i] = i\n"
    )
    steps = record(f"{path}:kernel")[1, 4](np.zeros(4, np.int64), 3).steps
    assert [(step.line, step.threads.tolist()) for step in steps] == [
        (5, [0, 1, 2, 3]),
        (6, [0, 1, 2, 3]),
        (7, [0, 1, 2]),
    ]
