"""Threads that wait for each other: right kernels end right, broken ones are found out.

Every kernel runs in the usual order; in the others `make test` draws a third.
"""

from __future__ import annotations

import ast
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

from simt.kernel import legality, source
from simt.kernel.legality import ATOMIC, MEMORY
from simt.machine.schedule import Ranked, RoundRobin
from simt.report import Report
from simt.simulator import simulate
from tests.simt.waiting_kernels import BROKEN, RIGHT, values

ORDERS: dict[str, dict[str, Any]] = {
    "by number": {},
    "drawn": {"order_seed": 1},
    "threads at accesses, drawn": {"schedule": ("threads", "accesses", 5)},
}


def drawn(value: Any) -> Any:
    """A parameter of which `make test` draws a third of the tests."""
    return pytest.param(value, marks=pytest.mark.series(1 / 3))


def launch(
    tmp_path: Path, text: str, grid: int, block: int, **options: Any
) -> tuple[Report, np.ndarray]:
    path = tmp_path / "kernel.py"
    path.write_text(text)
    given = values()
    report = simulate(f"{path}:kernel", **options)[grid, block](*given.values())
    return report, given["out"]


@pytest.mark.parametrize("order", [next(iter(ORDERS)), *map(drawn, list(ORDERS)[1:])])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_ends_right(name: str, order: str, tmp_path: Path) -> None:
    kernel, options = RIGHT[name], dict(ORDERS[order])
    if "schedule" in options:
        options["schedule"] = RoundRobin(*options["schedule"])
    report, out = launch(tmp_path, kernel.text, kernel.grid, kernel.block, **options)
    assert report.hazards == (), f"{report}\n{kernel.text}"
    expected = np.zeros_like(out)
    expected[: len(kernel.expected)] = kernel.expected
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("seed", [None, drawn(1)])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_kernel_is_found_out(name: str, seed: int | None, tmp_path: Path) -> None:
    kernel = BROKEN[name]
    before = threading.active_count()
    report, _ = launch(tmp_path, kernel.text, kernel.grid, kernel.block, order_seed=seed)
    assert threading.active_count() == before
    assert {(h.kind, h.severity) for h in report.hazards} == kernel.found, report
    first = report.hazards[0]
    assert kernel.line in first.details["code"], report
    for words in kernel.words:
        assert words in first.text(), report


@pytest.mark.parametrize("name", [n for n, k in BROKEN.items() if "changes memory" in str(k.words)])
def test_a_wait_that_changes_memory_has_few_turns(name: str, tmp_path: Path) -> None:
    kernel, given = BROKEN[name], values()
    path = tmp_path / "kernel.py"
    path.write_text(kernel.text)
    simulate(f"{path}:kernel", step_budget=40_000)[kernel.grid, kernel.block](*given.values())
    # A warp adds up to 32 in a turn; the 320,000 steps of all warps together are 700,000 and more.
    assert 0 < given["data"][0] < 50_000


def test_a_wait_that_changes_memory_and_meets_others_ends(tmp_path: Path) -> None:
    # A turn that changes memory may be work taken from a queue, so only the steps end it.
    path, given = tmp_path / "kernel.py", values()
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(flag, data):\n"
        "    while cuda.atomic.add(flag, 0, 0) < 5:\n"
        "        cuda.atomic.add(data, 0, 1)\n"
        "        cuda.syncthreads()\n"
    )
    run = simulate(f"{path}:kernel", step_budget=10_000)[3, 40]
    (hazard,) = run(given["flag"], given["data"]).hazards
    assert (hazard.kind, hazard.line) == ("endless-loop", 4)
    assert 0 < given["data"][0] < 200_000


TILES = """
from numba import cuda, int32

@cuda.jit
def kernel(out, flag, ticket):
    s = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        s[0] = {tile}
    cuda.syncthreads()
    tile = s[0]
    if cuda.threadIdx.x == 0:
        out[tile] = 1
        if tile > 0:
            while cuda.atomic.add(flag, tile - 1, 0) == 0:
                pass
            cuda.threadfence()
            out[tile] = out[tile - 1] + 1
        cuda.threadfence()
        cuda.atomic.exch(flag, tile, 1)
"""


@pytest.mark.parametrize("resident", [0, 1, 3])
@pytest.mark.parametrize("tile", ["cuda.atomic.add(ticket, 0, 1)", "cuda.blockIdx.x"])
def test_a_block_may_wait_for_those_that_have_started(
    tile: str, resident: int, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(TILES.format(tile=tile))
    ended = set()
    for seed in range(4):
        out, flag, ticket = np.zeros(9, np.int64), np.zeros(9, np.int64), np.zeros(1, np.int64)
        schedule = Ranked("threads", seed=seed, resident=resident)
        report = simulate(f"{path}:kernel", schedule=schedule)[9, 3](out, flag, ticket)
        ended.add(report.ok)
        if report.ok:
            np.testing.assert_array_equal(out, np.arange(1, 10))
        else:
            (hazard,) = report.hazards
            assert hazard.kind == "endless-loop" and hazard.details["proven"]
            room = "1 block" if resident == 1 else "3 blocks"
            assert f"and the GPU has room for {room} at a time" in hazard.message
            assert f"{hazard.details['outside']} blocks cannot start" in hazard.details["why"]
    # The ticket is right in any room; the number of the block only where all blocks are there.
    assert ended == ({True} if "ticket" in tile or not resident else {False})


@pytest.mark.parametrize("threads", [3, 128, 160])
def test_any_block_may_be_the_first_to_find_room_however_large_it_is(
    threads: int, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(TILES.format(tile="cuda.blockIdx.x"))
    for first in (1, 2):  # each waits for the block before it
        out, flag, ticket = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(1, np.int64)
        schedule = Ranked("threads", resident=1, first=first)
        report = simulate(f"{path}:kernel", schedule=schedule)[3, threads](out, flag, ticket)
        assert np.flatnonzero(out).tolist() == [first]
        assert [hazard.kind for hazard in report.hazards] == ["endless-loop"]


def test_no_more_blocks_are_there_than_there_is_room_for(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(inside, most):\n"
        "    now = cuda.atomic.add(inside, 0, 1) + 1\n"
        "    cuda.atomic.max(most, 0, now)\n"
        "    cuda.syncthreads()\n"
        "    cuda.atomic.add(inside, 0, -1)\n"
    )
    for resident, expected in [(1, 8), (2, 16), (0, 48)]:
        inside, most = np.zeros(1, np.int64), np.zeros(1, np.int64)
        drawn = Ranked("threads", "accesses", seed=3, turns=2, resident=resident)
        assert simulate(f"{path}:kernel", schedule=drawn)[6, 8](inside, most).ok
        assert inside[0] == 0
        assert most[0] <= expected
        if resident:
            assert most[0] > expected - 8


def test_a_barrier_of_the_grid_has_all_blocks_there(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, data):\n"
        "    i = cuda.grid(1)\n"
        "    data[i] = i\n"
        "    cuda.cg.this_grid().sync()\n"
        "    out[i] = data[11 - i]\n"
    )
    out = np.zeros(12)
    schedule = Ranked(seed=1, resident=1)
    assert simulate(f"{path}:kernel", schedule=schedule)[3, 4](out, np.zeros(12)).ok
    np.testing.assert_array_equal(out, np.arange(12)[::-1])


# What a loop's end depends on, body by body: n is a number, a and flags are arrays
ASKS = {
    "while n > 0:\n    n -= 1": "",
    "while a[0] == 0:\n    pass": MEMORY,
    "while cuda.atomic.add(a, 0, 0) == 0:\n    pass": ATOMIC,
    "x = 0\nwhile x == 0:\n    x = a[0]": MEMORY,
    "x = 0\nwhile x == 0:\n    x += cuda.atomic.add(a, 0, 0)": ATOMIC,
    "x = 0\nwhile x == 0:\n    x: int = a[0]": MEMORY,
    "x = 0\nwhile x == 0:\n    x, y = a[0], 1": MEMORY,
    # What is read in the place of an assignment is not assigned.
    "while cuda.any_sync(1, n > 0):\n    a[cuda.laneid] = cuda.atomic.inc(a, 0, 9)\n    n -= 1": "",
    "while cuda.any_sync(-1, n > 0):\n    a[cuda.laneid] += a[0]\n    n -= 1": "",
    "while n > 0:\n    a[n], x = cuda.atomic.add(a, 0, 1), 1\n    n -= 1": "",
    "while n > 0:\n    m[n, n][0] = a[0]\n    n -= 1": "",
}


@pytest.mark.parametrize("body", ASKS)
def test_what_the_end_of_a_loop_depends_on(body: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    head = "from numba import cuda\n@cuda.jit\ndef kernel(a, m, n):\n"
    path.write_text(head + textwrap.indent(body, "    "))
    made = legality.draft(source.load(path).kernel("kernel"))
    (loop,) = (node for node in ast.walk(made.kernel.tree) if isinstance(node, ast.While))
    assert legality.asks(made, loop) == ASKS[body]


def test_a_long_loop_that_writes_by_lane_is_no_waiting_one() -> None:
    def counted(q, n):
        left = 12_000
        while cuda.any_sync(0xFFFFFFFF, left > 0):
            q[cuda.laneid] = cuda.atomic.add(n, 0, 1)
            left -= 1

    report = simulate(counted)[1, 32](np.zeros(32), np.zeros(1))
    assert report.ok, report
