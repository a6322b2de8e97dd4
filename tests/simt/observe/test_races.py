"""Races that hide behind another block's barrier, a third thread, a fence of too short a reach."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from simt.machine import launch as launching
from simt.observe import races
from simt.report import Report
from simt.simulator import simulate

HEAD = """from numba import cuda, float32, float64, int64, uint8
import numpy as np
PAIR = np.dtype([("x", np.float32), ("y", np.float64)], align=True)
fence = cuda.threadfence
@cuda.jit(device=True)
def tell(flag, k):
    fence()
    cuda.atomic.add(flag, k, 1)
@cuda.jit
def kernel(cell, flag, out, n, skip):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    lane = t % 32
"""


def launch(
    tmp_path: Path, body: str, grid: int, block: int, n: int = 0, skip: int = -1, dynamic: int = 0
) -> Report:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    arguments = np.zeros(64), np.zeros(64, np.int64), np.zeros(grid * block)
    return simulate(f"{path}:kernel")[grid, block, 0, dynamic](*arguments, n, skip)


# name -> (body, grid, block, what is wrong in `@`, what is right there)
PAIRS = {
    "a mean before all blocks have added": (
        """
        cuda.atomic.add(cell, 0, 1.0)
        {0}
        if b == cuda.gridDim.x - 1 and t == 0:
            out[0] = cell[0]
        """,
        4,
        32,
        "cuda.syncthreads()",
        "cuda.cg.this_grid().sync()",
    ),
    "blocks read what the last one writes": (
        """
        out[i] = cell[0]
        {0}
        if b == cuda.gridDim.x - 1 and t == 0:
            cell[0] = 1
        """,
        5,
        33,
        "cuda.syncthreads()",
        "cuda.cg.this_grid().sync()",
    ),
    "warps read what one writes": (
        """
        s = cuda.shared.array(1, int64)
        if t == 0:
            s[0] = 0
        cuda.syncthreads()
        out[i] = s[0]
        {0}
        if t == 90:
            s[0] = 1
        """,
        2,
        96,
        "cuda.syncwarp()",
        "cuda.syncthreads()",
    ),
    "an exchange, and a plain read": (
        """
        if t == 0 and b < 2:
            cuda.atomic.max(cell, 0, 1.0)
        {0}
        if b == 1 and t == 3:
            out[i] = cell[0]
        """,
        2,
        8,
        "cuda.syncthreads()",
        "cuda.cg.this_grid().sync()",
    ),
    "neighbouring fields of a structure": (
        """
        p = cuda.shared.array(32, PAIR)
        if t % 2 == 0:
            p[t].x = t
        elif t > 0:
            {0} = t
        """,
        1,
        32,
        "p[t - 1].x",
        "p[t - 1].y",
    ),
    "halves of a warp": (
        """
        s = cuda.shared.array(64, int64)
        s[t] = t
        cuda.syncwarp(0x0000FFFF if lane < 16 else 0xFFFF0000)
        out[i] = s[t ^ {0}]
        """,
        1,
        64,
        "16",
        "8",
    ),
    "what a lane knows from an earlier meeting": (
        """
        s = cuda.shared.array(32, int64)
        s[t] = t
        {0}
        if t == 5:
            cuda.syncwarp(1 << 5)
        out[i] = s[31 - t]
        """,
        1,
        32,
        "pass",
        "cuda.syncwarp()",
    ),
    "a chain of meetings in a warp": (
        """
        s = cuda.shared.array(32, int64)
        if t == 0:
            s[0] = 1
        if t < 2:
            cuda.syncwarp(3)
        if 0 < t < 3:
            cuda.syncwarp(6)
        if t == {0}:
            out[0] = s[0]
        """,
        1,
        32,
        "3",
        "2",
    ),
    "one thread releases for its block": (
        """
        if b == 0:
            cell[t] = t
            {0}
            if t == 0:
                tell(flag, 0)
        elif t == 0:
            if cuda.atomic.add(flag, 0, 0) == 1:
                cuda.threadfence()
                out[0] = cell[7]
        """,
        2,
        8,
        "pass",
        "cuda.syncthreads()",
    ),
    "one thread acquires for its block": (
        """
        if b == 0:
            if t == 0:
                cell[0] = 1
                tell(flag, 0)
        else:
            if t == 0:
                cuda.atomic.add(flag, 0, 0)
                cuda.threadfence()
            {0}
            out[i] = cell[0]
        """,
        2,
        8,
        "pass",
        "cuda.syncthreads()",
    ),
    "a chain of three blocks": (
        """
        if b == 0:
            cell[0] = 1
            tell(flag, 0)
        if b == 1:
            cuda.atomic.add(flag, 0, 0)
            {0}
            cuda.atomic.add(flag, 1, 1)
        if b == 2:
            cuda.atomic.add(flag, 1, 0)
            cuda.threadfence()
            out[0] = cell[0]
        """,
        3,
        1,
        "pass",
        "cuda.threadfence()",
    ),
    "a fence of the block between blocks": (
        """
        if b == 0:
            cell[0] = 1
            cuda.{0}()
            cuda.atomic.exch(flag, 0, 1)
        else:
            cuda.atomic.add(flag, 0, 0)
            cuda.threadfence()
            out[0] = cell[0]
        """,
        2,
        1,
        "threadfence_block",
        "threadfence",
    ),
    "a fence of the block within the block": (
        """
        if t == 0:
            cell[b] = 1
            cuda.threadfence_block()
            cuda.atomic.exch(flag, b, 1)
        if t == 1:
            cuda.atomic.add(flag, {0}, 0)
            cuda.threadfence_block()
            out[i] = cell[b]
        """,
        2,
        2,
        "b + 2",
        "b",
    ),
    "a lock that was not got releases nothing": (
        """
        if b == 0:
            cell[0] = 1
            cuda.threadfence()
            cuda.atomic.cas(flag, 0, {0}, 1)
        else:
            cuda.atomic.add(flag, 0, 0)
            cuda.threadfence()
            out[0] = cell[0]
        """,
        2,
        1,
        "5",
        "0",
    ),
    "atomics, and then a plain read": (
        """
        if t == 0:
            cuda.atomic.add(cell, 0, 1.0)
            if b != {0}:
                tell(flag, 0)
        if i == cuda.gridDim.x * cuda.blockDim.x - 1:
            cuda.atomic.add(flag, 0, 0)
            cuda.threadfence()
            out[0] = cell[0]
        """,
        5,
        2,
        "2",
        "9",
    ),
    "bytes seen through two types": (
        """
        one = cuda.shared.array(0, uint8)
        two = cuda.shared.array(0, float64)
        if t < 8:
            one[{0} + t] = 1
        if t == 9:
            two[1] = 1.0
        """,
        1,
        10,
        "8",
        "16",
    ),
    "the fields of a structure": (
        """
        p = cuda.shared.array(32, PAIR)
        p[t].x = t
        p[t].y = t
        if t > 0:
            {0} = 1.0
        """,
        1,
        32,
        "p[t - 1].x",
        "p[t].x",
    ),
    "two views of one array": (
        """
        low = cell[0:32]
        high = cell[{0}:]
        if t < 16:
            low[t] = 1
        elif t < 32:
            high[t - 16] = 1
        """,
        1,
        32,
        "15",
        "16",
    ),
    "an atomic and a plain read": (
        """
        if i == 0:
            cuda.atomic.add(cell, 0, 1.0)
        if i == 5:
            out[i] = cell[{0}]
        """,
        2,
        4,
        "0",
        "1",
    ),
}


@pytest.mark.parametrize("lanes", [1 << 15, 32], ids=["one batch", "batches"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_race_is_found_and_its_twin_is_clean(
    name: str, lanes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "LANES_PER_BATCH", lanes)
    body, grid, block, wrong, right = PAIRS[name]
    dynamic = 128 if "two types" in name else 0
    found = launch(tmp_path, body.replace("{0}", wrong), grid, block, dynamic=dynamic)
    assert {(h.kind, h.severity) for h in found.hazards} >= {("race", "error")}, found
    clean = launch(tmp_path, body.replace("{0}", right), grid, block, dynamic=dynamic)
    assert clean.hazards == (), clean


NOBODY_BETWEEN = "let nobody come between the read and the write"
TWO_LINES = "make two lines of it, and let the block meet at cuda.syncthreads() in between"
EACH_TURN = "let the block meet at cuda.syncthreads() between a turn that writes"
OTHERS = "read only cells that no other thread writes in the same launch"
ONE_LINE = {
    "a neighbour's cell": ("s[t] = s[(t + 1) % 64] + 1", TWO_LINES),
    "a neighbour's cell, added": ("s[t] += s[(t + 1) % 64]", TWO_LINES),
    "the cell itself": ("s[t % 8] += 1", NOBODY_BETWEEN),
    "the cell itself, spelled out": ("s[t % 8] = s[t % 8] + 1", NOBODY_BETWEEN),
    "the cell itself, again and again": ("for k in range(3): s[t % 8] += k", NOBODY_BETWEEN),
    "the cell itself, and another": ("s[0] += s[63 - t]", NOBODY_BETWEEN),
    "in global memory": ("cell[b] = cell[b] + t", NOBODY_BETWEEN),
    "a neighbour's in global memory": ("cell[t] += cell[(t + 1) % 64]", OTHERS),
    "a tree": ("for k in range(5):\n if t < 32 >> k: s[t] += s[t + (32 >> k)]", EACH_TURN),
    "each in turn": ("for k in range(3): s[(t + k) % 64] += k", EACH_TURN),
}


@pytest.mark.parametrize("lanes", [1 << 15, 32], ids=["one batch", "batches"])
@pytest.mark.parametrize("name", ONE_LINE)
def test_a_race_within_one_line_is_told_of_one_line(
    name: str, lanes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "LANES_PER_BATCH", lanes)
    line, advice = ONE_LINE[name]
    body = "s = cuda.shared.array(64, int64)\ns[t] = t\ncuda.syncthreads()\n" + line
    found = launch(tmp_path, body, 1, 64).hazards
    within = [h for h in found if h.line == h.details["other_line"]]
    reads = [h for h in within if "load" in (h.details["access"], h.details["other_access"])]
    assert reads
    for hazard in reads:
        assert hazard.details["try"].startswith(advice)


BETWEEN = "let the block meet at cuda.syncthreads() between the "
TWO_PLACES = {
    "a read behind a write": ("s[t] = t\nout[t] = s[63 - t]", "write and the read"),
    "a write behind a read": ("x = s[63 - t]\ns[t] = x", "read and the write"),
    "an atomic behind a write": ("s[t] = 0\ncuda.atomic.add(s, 63 - t, 1)", "write and the update"),
    "a write behind an atomic": ("cuda.atomic.add(s, 63 - t, 1)\ns[t] = 0", "update and the write"),
    "a read behind an atomic": (
        "cuda.atomic.add(s, t, 1)\nout[t] = s[63 - t]", "update and the read"
    ),
    "a write behind a write": ("s[t] = 0\ns[63 - t] = 1", "first write and the second"),
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_PLACES)
def test_a_race_between_two_lines_asks_for_a_barrier_between_them(
    name: str, tmp_path: Path
) -> None:
    lines, between = TWO_PLACES[name]
    body = "s = cuda.shared.array(64, int64)\ns[t] = t\ncuda.syncthreads()\n" + lines
    (hazard,) = launch(tmp_path, body, 1, 64).hazards
    assert hazard.details["try"].startswith(BETWEEN + between)


def test_a_race_holds_all_its_cells(tmp_path: Path) -> None:
    body = "s = cuda.shared.array(64, int64)\ns[t] = t\nout[t] = s[{reads}]"
    for reads, cells in (("63 - t", range(64)), ("t if t < 60 else t - 60", range(4))):
        (hazard,) = launch(tmp_path, body.format(reads=reads), 1, 64).hazards
        assert hazard.details["cells"] == tuple(cells)
        assert hazard.details["cell"] in cells


FLAGS = """
    if b < n:
        out[b] = cell[0]
        tell(flag, b)
    else:
        for k in range(n):
            if k != skip:
                cuda.atomic.add(flag, k, 0)
        cuda.threadfence()
        cell[0] = 1
"""


@pytest.mark.parametrize("n", range(2, 13))
def test_a_writer_that_hears_of_all_readers_but_one(n: int, tmp_path: Path) -> None:
    assert launch(tmp_path, FLAGS, n + 1, 1, n).hazards == ()
    for skip in range(n):
        (hazard,) = launch(tmp_path, FLAGS, n + 1, 1, n, skip).hazards
        assert hazard.details["other_thread"] == skip


def test_writers_of_one_value_do_not_hide_each_other(tmp_path: Path) -> None:
    body = """
        if t == 0:
            cell[0] = 1
        cuda.syncthreads()
        if b == {reader} and t == 1:
            out[i] = cell[0]
    """
    path = tmp_path / "kernel.py"
    for reader in range(3):
        text = textwrap.indent(textwrap.dedent(body.format(reader=reader)).strip(), "    ")
        path.write_text(HEAD + text + "\n")
        arguments = np.zeros(1), np.zeros(1, np.int64), np.zeros(6), 0, 0
        report = simulate(f"{path}:kernel", policy="foreign")[3, 2](*arguments)
        kinds = {(h.details["access"], h.severity) for h in report.hazards}
        assert kinds >= {("store", "advice"), ("load", "error")}, report


def test_what_cannot_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
        out[i] = cell[0]
        tell(flag, b)
        cell[i + 1] = 1
    """
    assert launch(tmp_path, body, 1, 8).hazards == ()
    monkeypatch.setattr(races, "MAX_KEPT", 16)
    (said,) = launch(tmp_path, body, 1, 8).hazards
    assert said.severity == "advice"
    assert "races may be missed" in said.message
