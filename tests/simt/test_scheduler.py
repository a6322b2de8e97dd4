"""A launch in tasks: the same as in lockstep, whoever runs first; schedules, records, replays."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from greenlet import greenlet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from simt.errors import KernelRefused
from simt.machine.observer import Access
from simt.machine.schedule import Follow, RoundRobin, Schedule, Task
from simt.observe.access_log import AccessLog
from simt.report import Report
from simt.simulator import simulate
from tests.simt import test_random_shared_kernels as random_shared
from tests.simt import test_shared_memory as shared
from tests.simt import test_warps as warps
from tests.simt.observe import test_hazards as hazards
from tests.simt.observe import test_order as order
from tests.simt.test_interpreter import _blocks
from tests.simt.test_random_shuffles import _steps
from tests.simt.waiting_kernels import HEAD, RIGHT, values

SPLITS: dict[str, Any] = {
    "warps": lambda: RoundRobin("warps"),
    "warps, drawn, at accesses": lambda: RoundRobin("warps", "accesses", seed=1),
    "threads, drawn": lambda: RoundRobin("threads", seed=2),
    "threads at accesses": lambda: RoundRobin("threads", "accesses"),
}
WARP_SPLITS = [name for name in SPLITS if name.startswith("warps")]
IMPORTS = "from numba import cuda, int32, int64\n"
WARP_HEAD = "@cuda.jit\ndef kernel(out, a):\n    i = cuda.grid(1)\n    lane = cuda.laneid\n"


def lines(body: str) -> str:
    return textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


def launch(path: Path, shape: tuple[int, int], values: Sequence[Any], split: str = "") -> Report:
    schedule = SPLITS[split]() if split else None
    return simulate(f"{path}:kernel", schedule=schedule, step_budget=30_000)[shape](*values)


def assert_same(text: str, folder: Path, shape: tuple[int, int], values: list[Any], split: str):
    """Fails where a split finds other hazards than lockstep; or other values, where none are."""
    path = folder / "kernel.py"
    path.write_text(text)
    together = [v.copy() for v in values]
    one = launch(path, shape, together)
    apart = [v.copy() for v in values]
    other = launch(path, shape, apart, split)
    assert _verdicts(other, one) == _verdicts(one, one), f"{one}\n{other}\n{text}"
    if not one.hazards:
        for a, b in zip(together, apart, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=text)
        if split in WARP_SPLITS:
            assert other.by_line == one.by_line, text


def _verdicts(report: Report, model: Report) -> set[tuple[Any, ...]]:
    """The hazards; where there is a race, not what a thread that comes too early finds as well."""
    racy = "race" in {h.kind for h in model.hazards}
    return {
        (h.kind, h.severity, h.line if h.kind != "race" else 0, _fact(h.kind, h.message))
        for h in report.hazards
        if not (racy and h.kind == "uninitialised-read")
    }


def _fact(kind: str, message: str) -> str:
    """The words of a fact; a race or an unset cell is named by the first to meet it."""
    told = kind in ("barrier-divergence", "illegal-launch")
    return "".join(c for c in message if not c.isdigit()) if told else ""


def _single() -> list[Any]:
    return [np.zeros(144, np.float32), np.arange(144, dtype=np.float32)]


FENCES = {
    f"last block: {before}, {after}": lines(
        order.LAST_BLOCK.format(before=before, after=after, in_block="pass")
    )
    for before in (order.FENCE, "pass")
    for after in (order.FENCE, "pass")
}
TABLES = {
    **{n: (shared.HEAD + lines(b), (3, 48), _single()) for n, (b, _) in shared.FAULTS.items()},
    **{n: (shared.HEAD + lines(b), (3, 48), _single()) for n, b in shared.TWINS.items()},
    **{
        n: (shared.HEAD + lines(b), (3, 48), [v.astype(np.float64) for v in _single()])
        for n, b in shared.KERNELS.items()
    },
    **{
        n: (hazards.HEAD + lines(b), (2, 16), [np.zeros(20, np.float32), np.ones(20), np.int64(20)])
        for n, b in [*((n, b) for n, (b, _) in hazards.FAULTS.items()), *hazards.TWINS.items()]
    },
    **{
        operation: (
            f"{IMPORTS}{WARP_HEAD}    out[i] = {operation}\n",
            (1, 64),
            [np.zeros(64, np.int64), warps.A],
        )
        for operation in warps.OPERATIONS
        if operation != "cuda.activemask()"  # which lanes go together is the schedule's affair
    },
    **{
        name: (
            f"{IMPORTS}@cuda.jit\ndef kernel(out, part, count, a):\n{body}",
            (6, 64),
            [np.zeros(1), np.zeros(6), np.zeros(1, np.int64), np.ones(600)],
        )
        for name, body in FENCES.items()
    },
}


@pytest.mark.series(1 / 3)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", TABLES)
def test_a_split_changes_nothing(name: str, split: str, tmp_path: Path) -> None:
    text, shape, values = TABLES[name]
    assert_same(text, tmp_path, shape, values, split)


_some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tasks")


@_some
@given(kernel=random_shared._kernels(), split=st.sampled_from(sorted(SPLITS)), seed=st.integers(0))
def test_random_kernels_with_barriers(
    kernel: random_shared.Written, split: str, seed: int, folder: Path
) -> None:
    values = list(random_shared._arguments(kernel.block, seed))
    assert_same(random_shared.IMPORTS + kernel.text, folder, (2, kernel.block), values, split)


@_some
@given(kernel=random_shared._kernels(), split=st.sampled_from(sorted(SPLITS)), data=st.data())
def test_random_kernels_that_lost_a_line(
    kernel: random_shared.Written, split: str, data: st.DataObject, folder: Path
) -> None:
    broken = data.draw(random_shared.broken(kernel))
    text = random_shared.IMPORTS + broken.text
    path = folder / "kernel.py"
    path.write_text(text)
    one, other = (
        launch(path, (2, kernel.block), random_shared._arguments(kernel.block, 1), s)
        for s in ("", split)
    )
    assert _verdicts(other, one) == _verdicts(one, one), f"{one}\n{other}\n{text}"


@_some
@given(
    steps=st.lists(_steps, min_size=1, max_size=8),
    split=st.sampled_from(sorted(SPLITS)),
    seed=st.integers(0, 1000),
)
def test_random_kernels_with_shuffles(
    steps: list[str], split: str, seed: int, folder: Path
) -> None:
    body = "s = cuda.shared.array(64, int64)\ni = cuda.grid(1)\nx = a[i]\ny = i\n"
    body += "\n".join(steps) + "\nout[i] = x * 5 + y\n"
    text = f"{IMPORTS}@cuda.jit\ndef kernel(out, a):\n" + lines(body)
    a = np.random.default_rng(seed).integers(-50, 50, 128)
    assert_same(text, folder, (2, 64), [np.zeros(128, np.int64), a], split)


@_some
@given(body=_blocks, split=st.sampled_from(sorted(SPLITS)), seed=st.integers(0, 2**16))
def test_random_kernels_of_single_threads(body: str, split: str, seed: int, folder: Path) -> None:
    text = (
        "import math\nfrom numba import cuda\n\n@cuda.jit\ndef kernel(out, b):\n"
        f"    i = cuda.grid(1)\n    x = 1\n    y = i\n{lines(body)}    out[i] += x - y\n"
    )
    b = np.random.default_rng(seed).integers(-20, 20, 120)
    assert_same(text, folder, (3, 40), [np.zeros(120, np.int64), b], split)


# Schedules, records and replays

LOST_UPDATE = "from numba import cuda\n@cuda.jit\ndef kernel(out):\n    out[0] += 1\n"


@pytest.fixture
def counter(tmp_path: Path) -> str:
    path = tmp_path / "kernel.py"
    path.write_text(LOST_UPDATE)
    return f"{path}:kernel"


def test_a_schedule_loses_updates_and_its_record_says_how(counter: str) -> None:
    out, record = np.zeros(1, np.int64), AccessLog()
    schedule = RoundRobin("threads", "accesses")
    report = simulate(counter, schedule=schedule, observers=(record,))[2, 2](out)
    assert {h.kind for h in report.hazards} == {"race"}
    assert out[0] == 1
    seen = [(e.kind, e.line, e.array, int(e.threads[0]), int(e.found[0])) for e in record.events]
    assert seen == [
        *(("load", 4, "out", thread, 0) for thread in range(4)),
        *(("store", 4, "out", thread, min(thread, 1)) for thread in range(4)),
    ]
    assert [e.values.tolist() for e in record.events if e.kind == "store"] == [[1]] * 4
    assert [e.cells.tolist() for e in record.events] == [[0]] * 8


def test_one_thread_after_the_other_loses_none(counter: str) -> None:
    out = np.zeros(1, np.int64)
    report = simulate(counter, schedule=RoundRobin("threads"))[2, 2](out)
    assert out[0] == 4
    assert {h.kind for h in report.hazards} == {"race"}  # all the same


@pytest.mark.parametrize("seed", range(4))
def test_a_run_is_replayed(counter: str, seed: int) -> None:
    drawn = RoundRobin("threads", "accesses", seed=seed)
    assert _run(counter, drawn) == _run(counter, Follow(drawn.chosen))


def _run(kernel: str, schedule: Schedule) -> list[Any]:
    """What each access found, and the outcome."""
    out, record = np.zeros(1, np.int64), AccessLog()
    simulate(kernel, schedule=schedule, observers=(record,))[2, 3](out)
    found = [(e.kind, e.threads.tolist(), e.found) for e in record.events]
    return [*((*who, what.tolist()) for *who, what in found if what is not None), out[0]]


class Hold(Schedule):
    """Keeps every task just before its store, until nobody can do anything else."""

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        others = [s for s in runnable if s.about.kind != "store"]
        for task in runnable:
            if task.about.kind == "store":
                assert task.about.cells.tolist() == [0]
                assert (task.about.line, task.about.array) == (4, "out")
        return (others or runnable)[0]


def test_a_search_sees_what_tasks_are_about_to_do(counter: str) -> None:
    out = np.zeros(1, np.int64)
    simulate(counter, schedule=Hold("warps", "accesses"))[5, 1](out)
    assert out[0] == 1


class Broken(Schedule):
    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        if last is not None:
            raise ZeroDivisionError
        return runnable[0]


def under_way() -> int:
    """Counts the coroutines that have started and not ended; a thread's own one has no parent."""
    found = [each for each in gc.get_objects() if issubclass(type(each), greenlet)]
    return sum(each.parent is not None and bool(each) for each in found)


def test_a_schedule_that_fails_ends_the_launch(counter: str) -> None:
    before = under_way()
    with pytest.raises(ZeroDivisionError):
        simulate(counter, schedule=Broken("threads", "accesses"))[2, 2](np.zeros(1, np.int64))
    assert under_way() == before


# Bounds

SPINS = "from numba import cuda\n@cuda.jit\ndef kernel(flag):\n    {}\n        pass\n"
ATOMIC_LOOP = "while cuda.atomic.add(flag, 0, 0) == 0:"


@pytest.mark.parametrize(
    ("loop", "grid", "block", "fact"),
    [
        (ATOMIC_LOOP, 65, 1024, "at most 65,536 threads; this one has 66,560"),
        (
            "while cuda.blockIdx.x == 0 and cuda.atomic.cas(flag, 0, 0, 1) != 0:",
            17,
            1024,
            "runs threads one by one in launches of at most 16,384 threads; this one has 17,408",
        ),
    ],
)
def test_more_than_it_can_hold_is_refused(
    loop: str, grid: int, block: int, fact: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(SPINS.format(loop))
    before = under_way()
    with pytest.raises(KernelRefused) as caught:
        simulate(f"{path}:kernel")[grid, block](np.zeros(1, np.int64))
    assert fact in str(caught.value)
    assert under_way() == before


@pytest.mark.parametrize("blocks", [600])
def test_all_warps_of_a_launch_wait_at_once(blocks: int, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(flag):\n"
        "    if cuda.threadIdx.x == 0:\n"
        "        cuda.atomic.add(flag, 0, 1)\n"
        "        while cuda.atomic.add(flag, 0, 0) < cuda.gridDim.x:\n"
        "            pass\n"
    )
    flag = np.zeros(1, np.int64)
    schedule = RoundRobin("warps")
    report = simulate(f"{path}:kernel", schedule=schedule)[blocks, 1](flag)
    assert report.ok
    assert flag[0] == blocks
    assert set(schedule.chosen) == set(range(blocks))


def test_an_interruption_leaves_no_coroutine_behind(counter: str) -> None:
    class Interrupt(AccessLog):
        def access(self, access: Access) -> None:
            if access.kind == "store":
                raise KeyboardInterrupt

    before = under_way()
    schedule = RoundRobin("threads", "accesses")
    with pytest.raises(KeyboardInterrupt):
        simulate(counter, schedule=schedule, observers=(Interrupt(),))[2, 2](np.zeros(1, np.int64))
    assert under_way() == before


def test_lanes_that_wait_for_each_other_need_a_schedule_of_threads(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(RIGHT["ping-pong between lanes"].text)
    with pytest.raises(KernelRefused, match="threads of one warp wait for each other"):
        simulate(f"{path}:kernel", schedule=RoundRobin("warps"))[1, 32](*values().values())


def test_without_greenlet_only_kernels_that_wait_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "greenlet", None)
    path = tmp_path / "kernel.py"
    path.write_text(RIGHT["tickets"].text)
    with pytest.raises(CourseError) as caught:
        simulate(f"{path}:kernel")[3, 64](*values().values())
    assert caught.value.fact.endswith("takes the package greenlet, which is not installed")
    path.write_text(HEAD + "    out[i] = i\n")
    arrays = values()
    assert simulate(f"{path}:kernel")[3, 64](*arrays.values()).ok
    np.testing.assert_array_equal(arrays["out"][:192], np.arange(192))


def test_greenlet_is_imported_where_threads_wait_and_not_before() -> None:
    code = "import sys; import simt.simulator; print('greenlet' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
