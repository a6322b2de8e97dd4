"""Shared and local memory and barriers: against one generator per thread."""

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

IMPORTS = "from numba import cuda, float32, float64, int32\n"
HEAD = f"{IMPORTS}\nTPB = 48\n\n@cuda.jit\ndef kernel(out, a):\n"

KERNELS = {
    "reverse within a block": """
        s = cuda.shared.array(TPB, float64)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        s[t] = a[i]
        cuda.syncthreads()
        out[i] = s[TPB - 1 - t]
    """,
    "tree sum": """
        s = cuda.shared.array(64, float64)
        t = cuda.threadIdx.x
        s[t] = a[cuda.grid(1)]
        if t < 16:
            s[t + 48] = 0.0
        cuda.syncthreads()
        step = 32
        while step > 0:
            if t < step:
                s[t] += s[t + step]
            cuda.syncthreads()
            step //= 2
        out[cuda.grid(1)] = s[0]
    """,
    "scan in two buffers": """
        s = cuda.shared.array((2, TPB), float64)
        t = cuda.threadIdx.x
        s[0, t] = a[cuda.grid(1)]
        cuda.syncthreads()
        now = 0
        step = 1
        while step < TPB:
            if t >= step:
                s[1 - now, t] = s[now, t] + s[now, t - step]
            else:
                s[1 - now, t] = s[now, t]
            cuda.syncthreads()
            now = 1 - now
            step *= 2
        out[cuda.grid(1)] = s[now, t]
    """,
    "two arrays on one line of names": """
        p = cuda.shared.array(TPB, float64); q = cuda.shared.array(TPB, int32)
        t = cuda.threadIdx.x
        p[t] = a[cuda.grid(1)]
        q[t] = t
        cuda.syncthreads()
        out[cuda.grid(1)] = p[q[(t + 5) % TPB]]
    """,
    "a local array": """
        mine = cuda.local.array(4, float64)
        i = cuda.grid(1)
        for k in range(4):
            mine[k] = a[(i + k) % a.size]
        s = 0.0
        for k in range(4):
            s += mine[3 - k] * (k + 1)
        out[i] = s
    """,
    "matmul of tiles": """
        p = cuda.shared.array((4, 4), float64)
        q = cuda.shared.array((4, 4), float64)
        x = cuda.threadIdx.x % 4
        y = cuda.threadIdx.x // 4 % 4
        total = 0.0
        for k in range(3):
            if cuda.threadIdx.x < 16:
                p[y, x] = a[y * 12 + k * 4 + x]
                q[y, x] = a[(k * 4 + y) * 4 + x]
            cuda.syncthreads()
            for m in range(4):
                total += p[y, m] * q[m, x]
            cuda.syncthreads()
        out[cuda.grid(1)] = total
    """,
}


def _text(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


def _launch(tmp_path: Path, body: str, out: Any, a: Any, block: int = 48, grid: int = 3) -> Report:
    path = tmp_path / "kernel.py"
    path.write_text(_text(body))
    return simulate(f"{path}:kernel")[grid, block](out, a)


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS.keys())
def test_computes_what_generators_compute(body: str, tmp_path: Path) -> None:
    a = np.random.default_rng(3).normal(size=144)
    out, expected = np.zeros(144), np.zeros(144)
    report = _launch(tmp_path, body, out, a)
    assert report.ok, report
    oracle = _text(body).replace(IMPORTS, "")
    run_serially(oracle, "kernel", (3, 1, 1), (48, 1, 1), expected, a)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


FAULTS = {
    "no barrier before reading a neighbour": (
        """
        s = cuda.shared.array(TPB, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        out[cuda.grid(1)] = s[TPB - 1 - t]
        """,
        {"race"},
    ),
    "no barrier before writing again": (
        """
        s = cuda.shared.array(TPB, float32)
        t = cuda.threadIdx.x
        for k in range(2):
            s[t] = a[t] + k
            cuda.syncthreads()
            out[cuda.grid(1)] = s[TPB - 1 - t]
        """,
        {"race"},
    ),
    "a barrier only half the threads reach": (
        """
        if cuda.threadIdx.x < 20:
            cuda.syncthreads()
        """,
        {"barrier-divergence"},
    ),
    "different barriers in if and else": (
        """
        if cuda.threadIdx.x < 20:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        """,
        {"barrier-divergence"},
    ),
    "unequal turns of a loop": (
        """
        for k in range(cuda.threadIdx.x % 3):
            cuda.syncthreads()
        """,
        {"barrier-divergence"},
    ),
    "some have returned": (
        """
        if cuda.threadIdx.x >= 20:
            return
        cuda.syncthreads()
        """,
        {"barrier-divergence"},
    ),
    "shared memory never written": (
        """
        s = cuda.shared.array(TPB, float32)
        out[cuda.grid(1)] = s[cuda.threadIdx.x]
        """,
        {"uninitialised-read"},
    ),
    "only half of it written": (
        """
        s = cuda.shared.array(TPB, float32)
        t = cuda.threadIdx.x
        if t < 24:
            s[t] = a[t]
        cuda.syncthreads()
        out[cuda.grid(1)] = s[TPB - 1 - t]
        """,
        {"uninitialised-read"},
    ),
    "a local array never written": (
        """
        mine = cuda.local.array(4, float32)
        out[cuda.grid(1)] = mine[2]
        """,
        {"uninitialised-read"},
    ),
    "past the end of the tile": (
        """
        s = cuda.shared.array(TPB, float32)
        s[cuda.threadIdx.x + 1] = 1.0
        """,
        {"out-of-bounds"},
    ),
    "a race within one warp": (
        """
        s = cuda.shared.array(TPB, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        if t < 16:
            out[cuda.grid(1)] = s[t + 16]
        """,
        {"race"},
    ),
    "all write one cell": (
        """
        s = cuda.shared.array(1, int32)
        s[0] = cuda.threadIdx.x
        """,
        {"race"},
    ),
    "a block's barrier orders no other block": (
        """
        out[cuda.threadIdx.x] = 1.0
        cuda.syncthreads()
        x = out[(cuda.threadIdx.x + 1) % TPB]
        """,
        {"race"},
    ),
    "more shared memory than there is": (
        "s = cuda.shared.array(50000, float32)",
        {"illegal-launch"},
    ),
}
TWINS = {
    "a barrier in a branch all threads take": """
        if cuda.blockIdx.x < 2:
            cuda.syncthreads()
    """,
    "a barrier in a loop of equal turns": """
        for k in range(cuda.blockIdx.x + 1):
            cuda.syncthreads()
    """,
    "whole blocks have returned": """
        if cuda.blockIdx.x == 1:
            return
        cuda.syncthreads()
    """,
    "barriers on both sides": """
        s = cuda.shared.array(TPB, float32)
        t = cuda.threadIdx.x
        for k in range(3):
            s[t] = a[t] + k
            cuda.syncthreads()
            out[cuda.grid(1)] = s[TPB - 1 - t]
            cuda.syncthreads()
    """,
    "a thread's own cell needs no barrier": """
        s = cuda.shared.array(TPB, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        s[t] += 1.0
        out[cuda.grid(1)] = s[t]
    """,
    "one thread fills, all read after a barrier": """
        s = cuda.shared.array(4, float32)
        if cuda.threadIdx.x == 0:
            for k in range(4):
                s[k] = a[k]
        cuda.syncthreads()
        out[cuda.grid(1)] = s[cuda.threadIdx.x % 4]
    """,
    "a barrier orders global memory of the block": """
        i = cuda.grid(1)
        out[i] = a[i]
        cuda.syncthreads()
        x = out[cuda.blockIdx.x * TPB + (cuda.threadIdx.x + 1) % TPB]
        cuda.syncthreads()
        out[i] = x
    """,
}


@pytest.mark.parametrize(("body", "kinds"), FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_is_found(body: str, kinds: set[str], tmp_path: Path) -> None:
    report = _launch(tmp_path, body, np.zeros(144, np.float32), np.zeros(144, np.float32))
    assert {h.kind for h in report.hazards} == kinds, report


@pytest.mark.parametrize("body", TWINS.values(), ids=TWINS.keys())
def test_its_clean_twin_is_not(body: str, tmp_path: Path) -> None:
    report = _launch(tmp_path, body, np.zeros(144, np.float32), np.zeros(144, np.float32))
    assert report.hazards == (), report


def test_an_array_without_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda, float64\n\n"
        "@cuda.jit(device=True)\ndef fill(row, x):\n    row[0] = x\n    return row[0] * 2\n\n"
        "@cuda.jit\ndef kernel(out):\n    i = cuda.grid(1)\n"
        "    late = cuda.shared.array(40, float64)[8:]\n    late[i] = i\n    cuda.syncthreads()\n"
        "    out[i] = late[31 - i] + fill(cuda.local.array(2, float64), i)\n"
    )
    out = np.zeros(32)
    report = simulate(f"{path}:kernel")[1, 32](out)
    assert report.ok, report
    np.testing.assert_array_equal(out, 31 - np.arange(32) + 2 * np.arange(32))


def test_dynamic_shared_memory_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda, float32, int32\n@cuda.jit\ndef kernel(out):\n"
        "    p = cuda.shared.array(0, float32)\n    q = cuda.shared.array(0, int32)\n"
        "    t = cuda.threadIdx.x\n    p[t] = 1.0\n    out[t] = q[t]\n    out[t] += len(p)\n"
    )
    out = np.zeros(16, np.int64)
    report = simulate(f"{path}:kernel")[1, 16, 0, 64](out)
    assert report.ok, report
    assert out.tolist() == [np.float32(1).view(np.int32) + 16] * 16
    small = simulate(f"{path}:kernel")[1, 16, 0, 32](out)
    assert {h.kind for h in small.hazards} == {"out-of-bounds"}


@pytest.mark.parametrize(
    ("index", "wavefronts", "conflicts"),
    [
        ("t", 1, 0),
        ("t * 2", 2, 1),
        ("t * 32", 32, 31),
        ("t * 33", 1, 0),
        ("0", 1, 0),
        ("t // 2", 1, 0),
    ],
)
def test_bank_conflicts(index: str, wavefronts: int, conflicts: int, tmp_path: Path) -> None:
    body = f"""
        s = cuda.shared.array(1056, float32)
        t = cuda.threadIdx.x
        for k in range(33):
            s[k * 32 + t] = 0.0
        cuda.syncthreads()
        out[t] = s[{index}]
    """
    report = _launch(tmp_path, body, np.zeros(32), np.zeros(32), block=32, grid=1)
    load = report.counters.shared_load
    assert (load.requests, load.wavefronts, load.conflicts) == (1, wavefronts, conflicts)
    assert report.counters.barriers == 1


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        (
            "s = cuda.shared.array(out.size, float32)",
            "its shape must be constant",
        ),
        ("n = 4\n    n += 1\n    s = cuda.shared.array(n, float32)", "n is not a constant"),
        ("s = cuda.shared.array(4)", "takes a shape and a dtype"),
        ("s = cuda.shared.array(4, 4)", "4 is not a dtype"),
        ("s = cuda.shared.array(-4, float32)", "a side of -4, and no array is so small"),
    ],
)
def test_a_shape_must_be_constant(line: str, fact: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(f"{HEAD}    {line}\n    out[0] = a[0]\n")
    with pytest.raises(KernelRefused) as caught:
        simulate(f"{path}:kernel")[1, 4](np.zeros(4), np.zeros(4))
    assert fact in caught.value.fact


def test_an_atomic_on_an_array_of_the_thread_itself_is_refused(tmp_path: Path) -> None:
    body = "    own = cuda.local.array(1, float32)\n    own[0] = 1\n"
    path = tmp_path / "kernel.py"
    path.write_text(f"{HEAD}{body}    cuda.atomic.add(own, 0, 2)\n    out[0] = own[0]\n")
    with pytest.raises(KernelRefused) as caught:
        simulate(f"{path}:kernel")[1, 4](np.zeros(4), np.zeros(4))
    assert caught.value.fact.startswith("own lies in local memory: atomics are for global")
    assert caught.value.line == 9


def test_a_barrier_says_who_is_missing(tmp_path: Path) -> None:
    body = "if cuda.threadIdx.x < 20:\n    cuda.syncthreads()"
    (hazard,) = _launch(tmp_path, body, np.zeros(144), np.zeros(144), grid=1).hazards
    lines = hazard.text().splitlines()
    assert lines[0].endswith("28 of 48 threads miss this barrier")
    assert lines[3] == "  who:    block (0,0,0), threads 20..47 of 48 (warps 0, 1)"


def test_a_race_in_shared_memory_points_at_the_barrier(tmp_path: Path) -> None:
    body, _ = FAULTS["no barrier before reading a neighbour"]
    hazard = _launch(tmp_path, body, np.zeros(144), np.zeros(144)).hazards[0]
    assert hazard.details["try"] == (
        "let the block meet at cuda.syncthreads() between the write and the read"
    )
