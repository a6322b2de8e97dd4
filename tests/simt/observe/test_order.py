"""What orders two threads: warp barriers, fences with atomics; and what does not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from simt.report import Report
from simt.simulator import simulate

LAST_BLOCK = """
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        part[cuda.blockIdx.x] = a[cuda.grid(1)] + 1.0
        {before}
        s[0] = cuda.atomic.add(count, 0, 1)
        {after}
    cuda.syncthreads()
    if s[0] == cuda.gridDim.x - 1:
        {in_block}
        if t == 0:
            total = 0.0
            for k in range(cuda.gridDim.x):
                total += part[k]
            out[0] = total
"""
FENCE = "cuda.threadfence()"


def launch(tmp_path: Path, body: str, seed: int | None = None, block: int = 64) -> Report:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda, float32, int32\n@cuda.jit\ndef kernel(out, part, count, a):\n"
        + textwrap.indent(textwrap.dedent(body).strip(), "    ")
        + "\n"
    )
    out, part, count = np.zeros(1), np.zeros(6), np.zeros(1, np.int64)
    report = simulate(f"{path}:kernel", order_seed=seed)[6, block](out, part, count, np.ones(600))
    if out[0]:
        assert out[0] == 12
    return report


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize(
    ("before", "after", "in_block", "found"),
    [
        (FENCE, FENCE, "pass", set()),
        (FENCE, "pass", FENCE, set()),
        ("pass", FENCE, "pass", {("race", "error")}),
        ("pass", "pass", "pass", {("race", "error")}),
        (FENCE, "pass", "pass", {("race", "error")}),
    ],
)
def test_the_last_block_sums(
    before: str, after: str, in_block: str, found: set[tuple[str, str]], seed: int, tmp_path: Path
) -> None:
    body = LAST_BLOCK.format(before=before, after=after, in_block=in_block)
    report = launch(tmp_path, body, seed)
    assert {(h.kind, h.severity) for h in report.hazards} == found, report


def test_the_fence_after_the_atomic_is_advice_in_scripts(tmp_path: Path) -> None:
    launch(tmp_path, LAST_BLOCK.format(before=FENCE, after="pass", in_block="pass"))
    ready = simulate(f"{tmp_path / 'kernel.py'}:kernel", policy="foreign")
    report = ready[6, 64](np.zeros(1), np.zeros(6), np.zeros(1, np.int64), np.ones(600))
    assert {(h.kind, h.severity, h.details["loose"]) for h in report.hazards} == {
        ("race", "advice", True)
    }


def test_a_barrier_carries_the_blocks_writes_into_the_fence(tmp_path: Path) -> None:
    body = """
        s = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t == 5:
            part[cuda.blockIdx.x] = 2.0
        {barrier}
        if t == 0:
            cuda.threadfence()
            s[0] = cuda.atomic.add(count, 0, 1)
            cuda.threadfence()
        cuda.syncthreads()
        if s[0] == cuda.gridDim.x - 1 and t < 6:
            x = part[t]
    """
    assert launch(tmp_path, body.format(barrier="cuda.syncthreads()")).ok
    assert not launch(tmp_path, body.format(barrier="pass")).ok


def test_a_counter_alone_orders_nothing(tmp_path: Path) -> None:
    body = """
        part[cuda.blockIdx.x] = 1.0
        cuda.threadfence()
        x = part[(cuda.blockIdx.x + 1) % 6]
    """
    assert {h.kind for h in launch(tmp_path, body, block=1).hazards} == {"race"}


WARP = """
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    {sync}
    x = s[t ^ {partner}]
"""


@pytest.mark.parametrize(
    ("sync", "partner", "clean"),
    [
        ("cuda.syncwarp()", 1, True),
        ("cuda.syncwarp(0xFFFFFFFF)", 16, True),
        ("pass", 1, False),
        ("cuda.syncwarp()", 32, False),  # another warp
        ("m = cuda.activemask()", 1, False),
        ("y = cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)", 1, False),  # orders no memory
        ("v = cuda.ballot_sync(0xFFFFFFFF, 1)", 1, False),
    ],
)
def test_warp_barriers_order_their_warp(
    sync: str, partner: int, clean: bool, tmp_path: Path
) -> None:
    report = launch(tmp_path, WARP.format(sync=sync, partner=partner))
    assert report.ok == clean, report
    assert {h.kind for h in report.hazards} <= {"race"}


def test_a_warp_barrier_of_half_a_warp_orders_that_half(tmp_path: Path) -> None:
    body = """
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        if t < 16:
            cuda.syncwarp(0xFFFF)
            x = s[t ^ {partner}]
    """
    assert launch(tmp_path, body.format(partner=8)).ok
    assert not launch(tmp_path, body.format(partner=16)).ok


def test_the_grid_meets(tmp_path: Path) -> None:
    body = """
        g = cuda.cg.this_grid()
        i = cuda.grid(1)
        if i < 6:
            part[i] = a[i]
        {sync}
        if i < 6:
            x = part[(i + 1) % 6]
        {sync}
        if i < 6:
            part[i] = x
    """
    assert launch(tmp_path, body.format(sync="g.sync()"), block=1).ok
    assert launch(tmp_path, body.format(sync="g.sync()"), seed=4, block=64).ok
    assert not launch(tmp_path, body.format(sync="cuda.syncthreads()"), block=1).ok


LEAVES = {
    "a block has left": ("if cuda.blockIdx.x == 3:", "error", "error"),
    "the first thread of a block has left": ("if cuda.grid(1) == 64:", "error", "error"),
    "another thread has left": ("if cuda.grid(1) == 70:", "error", "advice"),
    "nobody has left": ("if cuda.grid(1) < 0:", None, None),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_grid_barrier_that_some_have_left_never_lets_go(name: str, tmp_path: Path) -> None:
    """A block is counted in by its first thread: others may have left, as they may a block's."""
    who, *severities = LEAVES[name]
    body = f"{who}\n    return\ncuda.cg.this_grid().sync()"
    launch(tmp_path, body)
    for policy, severity in zip(("puzzle", "foreign"), severities, strict=True):
        ready = simulate(f"{tmp_path / 'kernel.py'}:kernel", policy=policy)
        found = ready[6, 64](np.zeros(1), np.zeros(6), np.zeros(1, np.int64), np.ones(600)).hazards
        assert [h.severity for h in found] == [severity] * (severity is not None)
        for hazard in found:
            assert hazard.kind == "barrier-divergence"
            assert ("for ever" in hazard.details["why"]) == ("another" not in name)
            assert "every thread of the grid" in hazard.details["try"]


def test_a_grid_barrier_that_a_block_does_not_reach(tmp_path: Path) -> None:
    body = "if cuda.blockIdx.x != 3:\n    cuda.cg.this_grid().sync()"
    (hazard,) = launch(tmp_path, body).hazards
    assert hazard.kind == "barrier-divergence"
    assert hazard.threads[0] == ((3, 0, 0), (0, 0, 0))
