"""Threads that wait for each other: right kernels end right, broken ones are found out."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.simt.report import Report
from gpu_course.simt.schedule import RoundRobin
from gpu_course.simulator import simulate
from tests.simt.waiting_kernels import BROKEN, RIGHT, values

ORDERS: dict[str, dict[str, Any]] = {
    "by number": {},
    "drawn": {"order_seed": 1},
    "threads at accesses, drawn": {"schedule": ("threads", "accesses", 5)},
}


def launch(
    tmp_path: Path, text: str, grid: int, block: int, **options: Any
) -> tuple[Report, np.ndarray]:
    path = tmp_path / "kernel.py"
    path.write_text(text)
    given = values()
    report = simulate(f"{path}:kernel", **options)[grid, block](*given.values())
    return report, given["out"]


@pytest.mark.series(1 / 3)
@pytest.mark.parametrize("order", ORDERS)
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


@pytest.mark.series(1 / 3)
@pytest.mark.parametrize("seed", [None, 1])
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
