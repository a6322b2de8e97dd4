"""Kernels that once ended clean compiled, or otherwise than by the interpreter; none may again."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.compiled import jit
from simt.simulator import simulate
from tests.simt.compiled.both_ways import HAZARD, SAME, Seen, both_ways

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")

HEAD = "from numba import cuda, int32, int64, float64\n\n\n"
TILE = "t = cuda.threadIdx.x\ntile = cuda.shared.array(32, int64)\n"


@dataclass(frozen=True)
class Found:
    """A kernel of (out int64, a int64, n = 3).

    Attributes:
        body: its statements.
        hazard: what the interpreter finds; "" where it is clean.
        functions: of the device.
        shape: grid and block.
        options: of `simulate`.
    """

    body: str
    hazard: str = ""
    functions: str = ""
    shape: tuple[int, int] = (1, 32)
    options: tuple[tuple[str, Any], ...] = ()


FOUND = {
    "a barrier in an arm that is not taken": Found(
        TILE
        + """
        tile[t] = a[t]
        y = cuda.syncthreads_count(1) if n > 5 else 0
        out[t] = tile[31 - t] + y
        """,
        "race",
    ),
    "a break before the barrier, a store after the loop": Found(
        TILE
        + """
        tile[t] = t
        cuda.syncthreads()
        x = 0
        for k in range(4):
            x += tile[31 - t]
            if n > 2:
                break
            cuda.syncthreads()
        tile[t] = x
        cuda.syncthreads()
        out[t] = tile[t]
        """,
        "race",
    ),
    "a continue past the barrier, a store in the next turn": Found(
        TILE
        + """
        x = 0
        for k in range(3):
            tile[t] = k + t
            cuda.syncthreads()
            x += tile[31 - t]
            if n > 2:
                continue
            cuda.syncthreads()
        out[t] = x
        """,
        "race",
    ),
    "a break past the barrier of the test": Found(
        TILE
        + """
        x = 0
        while cuda.syncthreads_or(int32(x < 5)):
            tile[t] = x
            if n > 2:
                break
            x += 1
        out[t] = tile[31 - t]
        """,
        "race",
    ),
    "a variable that an earlier call of the function has set": Found(
        """
        t = cuda.threadIdx.x
        for k in range(2):
            out[t] = one(1 - k)
        """,
        "uninitialised-read",
        "@cuda.jit(device=True)\ndef one(x):\n    if x > 0:\n        y = 1\n    return y\n\n\n",
    ),
    "more steps than there may be, and no loop": Found(
        "t = cuda.threadIdx.x\n" + "out[t] = n\n" * 9, "endless-loop", options=(("step_budget", 9),)
    ),
    "blocks that go different ways, side by side": Found(
        """
        i = cuda.blockIdx.x
        s = 0
        if i % 2 == 0:
            for k in range(100):
                s += k
        else:
            for k in range(100):
                s += 2
        out[i] = s
        """,
        "endless-loop",
        shape=(8, 1),
        options=(("step_budget", 400),),
    ),
    "blocks that go the same ways, side by side": Found(
        """
        i = cuda.blockIdx.x
        s = 0
        for k in range(100):
            s += k
        out[i] = s
        """,
        shape=(8, 1),
        options=(("step_budget", 400),),
    ),
    "a loop that lanes leave apart, in a branch that all take": Found(
        """
        t = cuda.threadIdx.x
        if n > 2:
            for k in range(t % 4):
                out[t] += k
        out[t] += 1
        """,
        shape=(1, 30),
    ),
}


def kernel_of(found: Found, folder: Path) -> Any:
    """Returns a kernel that is ready to be launched."""
    body = textwrap.indent(_together(found.body), "    ")
    path = folder / "kernel.py"
    path.write_text(f"{HEAD}{found.functions}@cuda.jit\ndef kernel(out, a, n):\n{body}")
    return simulate(f"{path}:kernel", **dict(found.options))[found.shape]


def _together(body: str) -> str:
    """Statements without what they are indented by; those of TILE have no indentation."""
    head = TILE if body.startswith(TILE) else ""
    return head + textwrap.dedent(body[len(head) :]).lstrip("\n")


@pytest.mark.parametrize("name", FOUND)
def test_what_once_differed_is_the_same(name: str, tmp_path: Path) -> None:
    found = FOUND[name]
    with both_ways(Seen()) as seen:
        report = kernel_of(found, tmp_path)(np.zeros(64, np.int64), np.arange(64), 3)
    assert [hazard.kind for hazard in report.hazards[:1]] == (
        [found.hazard] if found.hazard else []
    )
    assert not seen.wrong, seen.wrong
    assert seen.counts == {HAZARD if found.hazard else SAME: 1}, seen.reasons


def test_a_launch_after_a_suspicious_one_counts_what_it_counts_alone(tmp_path: Path) -> None:
    """What a warp has loaded is remembered by a clock, which a launch that is given up leaves."""
    found = Found(
        TILE
        + """
        for k in range(n):
            tile[t] = k
            cuda.syncthreads()
            out[t] += tile[31 - t]
            cuda.syncthreads()
        out[a[t]] = 1
        """
    )
    outside, inside = np.full(64, 99), np.arange(64)
    kernel = kernel_of(found, tmp_path)
    with both_ways(Seen()) as seen:
        for places in (outside, inside, outside, inside):
            kernel(np.zeros(64, np.int64), places, 1)
    assert not seen.wrong, seen.wrong
    assert seen.counts == {HAZARD: 2, SAME: 2}
