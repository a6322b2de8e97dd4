"""Threads that wait for each other: locks, flags, look-back; and those that no order helps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import KernelRefused
from gpu_course.simulator import simulate

HEAD = "from numba import cuda, float64, int64\n\n@cuda.jit\n"

LOCK = """\
def kernel(total, lock, a):
    i = cuda.grid(1)
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    {acquire}
    total[0] += a[i]
    {release}
    cuda.atomic.exch(lock, 0, 0)
"""
LOOK_BACK = """\
def kernel(out, a, sums, flags):
    s = cuda.shared.array(32, float64)
    base = cuda.shared.array(1, float64)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 32:
        before = 0.0
        if t >= step:
            before = s[t - step]
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        step *= 2
    if t == 0:
        base[0] = 0.0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            {acquire}
            base[0] = sums[b - 1]
        sums[b] = base[0] + s[31]
        {release}
        cuda.atomic.add(flags, b, 1)
    cuda.syncthreads()
    out[cuda.grid(1)] = base[0] + s[t]
"""
FENCE = "cuda.threadfence()"


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + text)
    return f"{path}:kernel"


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(
    ("acquire", "release", "found"),
    [
        (FENCE, FENCE, set()),
        ("pass", FENCE, {"advice"}),
        (FENCE, "pass", {"error"}),
    ],
)
def test_a_lock(
    acquire: str, release: str, found: set[str], seed: int | None, tmp_path: Path
) -> None:
    kernel = write(tmp_path, LOCK.format(acquire=acquire, release=release))
    a = np.arange(1.0, 97.0)
    total, lock = np.zeros(1), np.zeros(1, np.int64)
    report = simulate(kernel, order_seed=seed)[3, 32](total, lock, a)
    assert {h.severity for h in report.hazards} == found, report
    assert {h.kind for h in report.hazards} <= {"race"}
    assert total[0] == a.sum()
    assert lock[0] == 0


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(
    ("acquire", "release", "found"),
    [(FENCE, FENCE, set()), (FENCE, "pass", {"error"}), ("pass", FENCE, {"advice"})],
)
def test_a_scan_that_looks_back(
    acquire: str, release: str, found: set[str], seed: int | None, tmp_path: Path
) -> None:
    kernel = write(tmp_path, LOOK_BACK.format(acquire=acquire, release=release))
    a = np.random.default_rng(2).integers(-5, 5, 320).astype(np.float64)
    out, sums, flags = np.zeros(320), np.zeros(10), np.zeros(10, np.int64)
    report = simulate(kernel, order_seed=seed)[10, 32](out, a, sums, flags)
    assert {h.severity for h in report.hazards} == found, report
    np.testing.assert_array_equal(out, np.cumsum(a))


def test_a_loop_that_tries_again_needs_no_order(tmp_path: Path) -> None:
    text = """\
def kernel(total):
    i = cuda.grid(1)
    old = 0
    while True:
        found = cuda.atomic.cas(total, 0, old, old + i)
        if found == old:
            break
        old = found
"""
    total = np.zeros(1, np.int64)
    report = simulate(write(tmp_path, text))[2, 40](total)
    assert report.ok
    assert total[0] == sum(range(80))
    assert report.counters.atom.requests < 80 * 80  # together, warp by warp


WAITS_FOR_NOBODY = """\
def kernel(flag):
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
"""
WAITS_FOR_A_LATER_BLOCK = """\
def kernel(flag):
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    else:
        cuda.atomic.add(flag, 0, 1)
"""


@pytest.mark.parametrize("text", [WAITS_FOR_NOBODY, WAITS_FOR_A_LATER_BLOCK])
def test_what_no_order_helps_is_refused_by_line(text: str, tmp_path: Path) -> None:
    flag = np.zeros(1, np.int64)
    with pytest.raises(KernelRefused, match="waits until another thread") as caught:
        simulate(write(tmp_path, text))[2, 8](flag)
    assert "while cuda.atomic.add" in caught.value.text


def test_a_long_loop_with_an_atomic_in_it_waits_for_nobody(tmp_path: Path) -> None:
    text = """\
def kernel(counts, a):
    i = cuda.grid(1)
    while i < a.size:
        cuda.atomic.add(counts, a[i], 1)
        i += cuda.gridsize(1)
"""
    a = np.arange(20_000) % 7
    counts = np.zeros(7, np.int64)
    report = simulate(write(tmp_path, text))[1, 32](counts, a)
    assert report.ok
    np.testing.assert_array_equal(counts, np.bincount(a))
    assert report.counters.red.requests == 625  # warp by warp, not thread by thread
