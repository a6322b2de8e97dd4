"""Device functions, slices as views, constant arrays, atomics: against one generator per thread."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from simt.simulator import simulate
from tests.simt.oracle import run_serially

N = 120
HEAD = """\
@cuda.jit(device=True)
def collatz(x):
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
        if steps > 40:
            return -1
    return steps


@cuda.jit(device=True)
def bigger(p, q):
    if p > q:
        return p
    return q


@cuda.jit(device=True)
def three(p, q, r):
    return bigger(bigger(p, q), r), p + q + r


@cuda.jit(device=True)
def add_to(row, k, value):
    row[k] += value


WEIGHTS = np.array([[1.0, 2.0, 4.0], [0.5, 0.25, 8.0]])
SHAPE = (3, 40)


@cuda.jit
def kernel(out, a, counts):
    i = cuda.grid(1)
"""

KERNELS = {
    "a device function with a loop": "out[i] = collatz(i + 1)",
    "called by some lanes only": """
        if i % 3 == 0:
            out[i] = collatz(i + 1)
        else:
            out[i] = bigger(a[i], 0.5)
    """,
    "functions that call functions and give tuples": """
        most, total = three(a[i], i * 0.1, 2.0)
        out[i] = most - total
    """,
    "a function that writes to an array": """
        out[i] = 0
        add_to(out, i, a[i])
        add_to(out, i, 2.0)
    """,
    "constant arrays and tuples": "out[i] = WEIGHTS[i % 2, i % 3] * SHAPE[0] + len(SHAPE)",
    "constant array by array_like": """
        w = cuda.const.array_like(WEIGHTS)
        out[i] = w[1, i % 3]
    """,
    "a view from a cell on": """
        tail = a[i:]
        out[i] = tail[0] + tail.size + tail.shape[0]
    """,
    "a view with both bounds and a step": """
        some = a[i % 7 : 100 : 3]
        s = 0.0
        for k in range(len(some)):
            s += some[k]
        out[i] = s
    """,
    "negative bounds count from the end": """
        some = a[-5:-1]
        out[i] = some[i % 4] * some.size
    """,
    "a view of a view": """
        p = a[10:50]
        q = p[5:]
        out[i] = q[i % 35]
    """,
    "writing through a view": """
        mine = out[i : i + 1]
        mine[0] = a[i]
    """,
    "for over an array, a tuple, enumerate and zip": """
        s = 0.0
        for x in a[:5]:
            s += x
        for k in (3, i, 7):
            s += k
            if s > 100:
                break
        for k, x in enumerate(a[:4]):
            s += k * x
        for p, q in zip(a[:3], (1, 2, i)):
            s += p * q
        out[i] = s
    """,
    "operator functions": """
        out[i] = operator.add(i, 2) * operator.floordiv(-i, 3) + operator.lt(i, 50)
    """,
    "atomic sums into few cells": """
        cuda.atomic.add(counts, i % 5, i)
        out[i] = 0
    """,
    "every atomic": """
        cuda.atomic.add(counts, 0, 2)
        cuda.atomic.sub(counts, 1, i)
        cuda.atomic.max(counts, 2, i % 50)
        cuda.atomic.min(counts, 3, -i)
        cuda.atomic.or_(counts, 4, i)
        cuda.atomic.xor(counts, 5, i)
        cuda.atomic.and_(counts, 6, ~i)
    """,
    "old values, each of which occurs once": """
        old = cuda.atomic.add(counts, 0, 1)
        cuda.atomic.add(counts, 1, old * old)
        out[i] = 0
    """,
}


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS.keys())
def test_computes_what_generators_compute(body: str, tmp_path: Path) -> None:
    text = HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    path = tmp_path / "kernel.py"
    path.write_text("import operator\nimport numpy as np\nfrom numba import cuda\n\n" + text)
    a = np.random.default_rng(5).normal(size=N)
    out, counts = np.full(N, -1.0), np.zeros(8, np.int64)
    expected, expected_counts = out.copy(), counts.copy()
    report = simulate(f"{path}:kernel")[3, 40](out, a, counts)
    assert report.ok, report
    oracle = text.replace("cuda.const.array_like(WEIGHTS)", "WEIGHTS")
    run_serially(oracle, "kernel", (3, 1, 1), (40, 1, 1), expected, a, expected_counts)
    np.testing.assert_allclose(out, expected, rtol=1e-14)
    np.testing.assert_array_equal(counts, expected_counts)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_ticket_is_drawn_once_in_any_order(seed: int | None, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, count):\n"
        "    i = cuda.grid(1)\n    out[i] = cuda.atomic.add(count, 0, 1)\n"
    )
    out, count = np.zeros(100, np.int64), np.zeros(1, np.int64)
    report = simulate(f"{path}:kernel", order_seed=seed)[5, 20](out, count)
    assert report.ok
    assert sorted(out) == list(range(100))
    assert (out.tolist() == list(range(100))) == (seed is None)
    assert report.counters.atom.requests == 5
    assert report.counters.red.requests == 0


def test_an_atomic_and_a_plain_access_race(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    for line, clean in (("out[i] = count[0]", False), ("out[i] = 1", True)):
        path.write_text(
            "from numba import cuda\n@cuda.jit\ndef kernel(out, count):\n"
            f"    i = cuda.grid(1)\n    cuda.atomic.add(count, 0, 1)\n    {line}\n"
        )
        out, count = np.zeros(100, np.int64), np.zeros(1, np.int64)
        report = simulate(f"{path}:kernel")[5, 20](out, count)
        assert report.ok == clean, report
        assert report.counters.red.requests == 5


def test_compare_and_swap_lets_one_thread_in(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(won, lock):\n"
        "    i = cuda.grid(1)\n    if cuda.atomic.cas(lock, 0, 0, i + 1) == 0:\n"
        "        won[0] = i\n"
    )
    won, lock = np.zeros(1, np.int64), np.zeros(1, np.int64)
    assert simulate(f"{path}:kernel", order_seed=3)[4, 32](won, lock).ok
    assert lock[0] == won[0] + 1


def test_a_row_beyond_the_array_is_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, a):\n"
        "    i = cuda.grid(1)\n    row = a[i]\n    out[i] = row[2]\n"
    )
    report = simulate(f"{path}:kernel")[1, 6](np.zeros(6), np.zeros((4, 3)))
    assert [h.line for h in report.hazards] == [5]
    assert "a[4, 0] is outside an array of shape (4, 3)" in report.hazards[0].message


def test_the_older_name_of_compare_and_swap(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(found, lock):\n"
        "    i = cuda.grid(1)\n    found[i] = cuda.atomic.compare_and_swap(lock, 0, i + 1)\n"
    )
    found, lock = np.full(40, -1), np.zeros(1, np.int64)
    assert simulate(f"{path}:kernel")[1, 40](found, lock).ok
    assert lock[0] == 1
    assert found.tolist() == [0] + [1] * 39
