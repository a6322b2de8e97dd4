"""One name for different arrays in different threads: who has left does not count.

Two buffers that change places are the commonest such kernel. Each runs against one generator per
thread, and NumPy is a second oracle for the heat of a plate.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.report import Report
from simt.simulator import simulate
from tests.simt.oracle import run_serially

IMPORTS = "import numpy as np\nfrom numba import cuda, float64\n\n\n"
HEAD = """\
@cuda.jit(device=True)
def ends(p, q, n, i):
    for k in range(n):
        if k == i % 5:
            return p[i]
        p, q = q, p
    return q[i]


@cuda.jit(device=True)
def chosen(p, q, first):
    if first:
        return p
    return q


@cuda.jit
def kernel(out, a, b, n):
    i = cuda.grid(1)
"""

RIGHT = {
    "a return before the loop": """
        if i >= n:
            return
        for k in range(3):
            a, b = b, a
        out[i] = a[i] - 2 * b[i]
    """,
    "returns in the loop": """
        now, after = a, b
        for k in range(9):
            if k == i % 11:
                return
            now, after = after, now
            out[i] += now[i] - 2 * after[i]
    """,
    "a break, and the buffers are not read again": """
        now, after = a, b
        for k in range(9):
            if k == i % 5:
                break
            now, after = after, now
            out[i] += now[i] - 2 * after[i]
    """,
    "a break, and each side has its own branch": """
        now = a
        for k in range(3):
            if i % 2:
                break
            now = b
        if i % 2:
            out[i] = now[i]
        else:
            out[i] = 3 * now[i]
    """,
    "continue": """
        now, after = a, b
        for k in range(8):
            if i % 3 == 0:
                continue
            now, after = after, now
            out[i] += now[i] - 2 * after[i]
    """,
    "nested loops": """
        now, after = a, b
        for j in range(4):
            for k in range(5):
                if k > j + i % 3:
                    break
                now = a if k % 2 == 0 else b
                after = b if k % 2 == 0 else a
                out[i] += now[i] - 2 * after[i] + j
            now, after = b, a
            if j == 2 and i % 7 == 0:
                return
            out[i] += now[i] + 5 * after[i]
    """,
    "a while loop that some leave": """
        now, after, k = a, b, 0
        while k < i % 6:
            now, after = after, now
            out[i] += now[i] - 2 * after[i]
            k += 1
    """,
    "a device function whose threads return in different turns": """
        out[i] = ends(b, a, 4, 0)
        if i % 4:
            out[i] += ends(a, b, 7, 3)
    """,
    "a device function that returns an array, the same for all who call it": """
        if i % 2:
            out[i] = chosen(a, b, True)[i]
        else:
            out[i] = 10 * chosen(a, b, False)[i]
    """,
    "an array assigned in both branches, and read in both": """
        if i % 2:
            which = a
        else:
            which = b
        if i % 2:
            out[i] = which[i]
        if not i % 2:
            out[i] = 7 * which[i]
    """,
    "stores and atomics through the name": """
        into = out
        if i >= n:
            into = b
            return
        into[i] += a[i]
        cuda.atomic.add(into, i, 3)
    """,
    "views and whole arrays under one name": """
        part = a
        if i % 3:
            part = a[1:-1]
        for k in range(i % 4):
            part = part[1:]
        out[i] = part[i % 20] + 100 * part.size
    """,
    "three buffers, round and round": """
        own = cuda.local.array(2, float64)
        own[0] = i
        p, q, r = a, b, a[::-1]
        for k in range(7):
            if k == n - i:
                return
            p, q = q, p
            out[i] += p[i] - 2 * q[i] + own[0]
            if k == 5 and i % 2:
                break
            q = r[:]
            p, r = b, a[::-1]
    """,
    "shared tiles that change places at barriers": """
        one = cuda.shared.array(64, float64)
        two = cuda.shared.array(64, float64)
        t = cuda.threadIdx.x
        one[t] = a[i]
        two[t] = b[i]
        cuda.syncthreads()
        now, after = one, two
        for k in range(4):
            after[t] = now[(t + 1) % 64]
            cuda.syncthreads()
            now, after = after, now
        if t % 2:
            now = two
            return
        out[i] = now[t]
    """,
    "a tuple that holds arrays": """
        pair = (a, b)
        for k in range(6):
            if k == i % 8:
                return
            pair = (pair[1], pair[0])
            out[i] += pair[0][i] - 2 * pair[1][i]
    """,
}


def launched(folder: Path, text: str, *arguments: Any, policy: str = "puzzle") -> Report:
    path = folder / "kernel.py"
    path.write_text(IMPORTS + text)
    return simulate(f"{path}:kernel", policy=policy)[1, 64](*arguments)


def written(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


def buffers() -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    rng = np.random.default_rng(8)
    return np.zeros(64), rng.normal(size=64), rng.normal(size=64), 50


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_threads_that_have_left_do_not_count(body: str, tmp_path: Path) -> None:
    found, expected = buffers(), buffers()
    report = launched(tmp_path, written(body), *found)
    assert report.ok, report
    run_serially(written(body), "kernel", (1, 1, 1), (64, 1, 1), *expected)
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


MIXED = {
    "a swap in some threads": "if i % 2:\n    a, b = b, a\nout[i] = a[i]",
    "a choice": "which = a if i % 2 else b\nout[i] = which[i]",
    "a return value": "out[i] = chosen(a, b, i % 2)[i]",
    "a break, and the name read behind the loop": (
        "now = a\nfor k in range(4):\n    if k == i % 2:\n        break\n    now = b\n"
        "out[i] = now[i]"
    ),
    "a store": "into = out\nif i % 2:\n    into = b\ninto[i] = 1",
    "an atomic": "into = out\nif i % 2:\n    into = b\ncuda.atomic.add(into, i, 1)",
    "a shape": "which = a\nif i % 2:\n    which = b\nout[i] = which.size",
    "a tuple by a variable": "out[i] = (a, b)[i % 2][i]",
}


@pytest.mark.parametrize("body", MIXED.values(), ids=MIXED.keys())
def test_threads_that_are_there_must_mean_one_array(body: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as refused:
        launched(tmp_path, written(body), *buffers())
    assert " in some threads here and for " in refused.value.fact
    assert "the simulator takes one array at a time, Numba takes both" in refused.value.fact
    last = len((IMPORTS + written(body)).splitlines())
    assert refused.value.line == last - (body.startswith("which = a if"))


def test_an_array_that_nobody_has_assigned_is_a_hazard(tmp_path: Path) -> None:
    body = "if n > 1000:\n    which = a\nout[i] = which[i]"
    report = launched(tmp_path, written(body), *buffers())
    assert [h.kind for h in report.hazards] == ["uninitialised-read"]


HEAT = """\
@cuda.jit
def kernel(one, two, steps):
    row, column = cuda.threadIdx.y, cuda.threadIdx.x
    rows, columns = one.shape
    if row >= rows or column >= columns:
        return
    edge = row == 0 or column == 0 or row == rows - 1 or column == columns - 1
    for step in range(steps):
        if step % 2 == 0:
            now, after = one, two
        else:
            now, after = two, one
        if edge:
            after[row, column] = now[row, column]
        else:
            around = now[row - 1, column] + now[row + 1, column]
            after[row, column] = 0.25 * (around + now[row, column - 1] + now[row, column + 1])
        cuda.syncthreads()
"""


@pytest.mark.parametrize("steps", [1, 6, 7])
def test_the_heat_of_a_plate_with_two_buffers(steps: int, tmp_path: Path) -> None:
    plate = np.zeros((7, 9))
    plate[0], plate[:, -1] = 100.0, 40.0
    one, two, expected = plate.copy(), np.zeros_like(plate), plate.copy()
    path = tmp_path / "kernel.py"
    path.write_text(IMPORTS + HEAT)
    report = simulate(f"{path}:kernel", policy="foreign")[1, (16, 16)](one, two, steps)
    assert report.ok, report
    for _ in range(steps):
        inner = expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:]
        expected[1:-1, 1:-1] = 0.25 * inner
    np.testing.assert_allclose(two if steps % 2 else one, expected, rtol=1e-13)
