"""Kernels without a race whose result depends on who comes first are found; right ones pass."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.puzzle import Case, KernelPuzzle, Launch
from simt.kernel.legality import check as check_kernel
from simt.kernel.source import load
from tests.gpu_course.grading import toy

SIZE = 16
HEAD = "from numba import cuda, int64\n\n\n@cuda.jit\ndef kernel(out, a, word, count):\n"
START = "    t = cuda.threadIdx.x\n    b = cuda.blockIdx.x\n    i = cuda.grid(1)\n"

RING = """
    if t == 0 and b == 0:
        for k in range(16):
            while {full}:
                pass
            cuda.threadfence()
            cuda.atomic.exch(word, k % 4, a[k])
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
    if t == 0 and b == 1:
        for k in range(16):
            while cuda.atomic.add(count, 0, 0) <= k:
                pass
            cuda.threadfence()
            {take}
"""
FULL = "k - cuda.atomic.add(count, 1, 0) >= 4"
TAKE = """out[k] = cuda.atomic.add(word, k % 4, 0)
            cuda.threadfence()
            cuda.atomic.add(count, 1, 1)"""
TAKE_LATE = """cuda.atomic.add(count, 1, 1)
            cuda.threadfence()
            out[k] = cuda.atomic.add(word, k % 4, 0)"""

WRONG = {
    "a ring that never looks whether it is full": RING.format(full="False", take=TAKE),
    "a ring with one place too many": RING.format(full=FULL.replace("4", "5"), take=TAKE),
    "a ring whose place is given back before it is read": RING.format(full=FULL, take=TAKE_LATE),
    "tickets as places": """
        out[cuda.atomic.add(count, 0, 1)] = a[i]
        """,
    "the last exchange wins": """
        cuda.atomic.exch(word, t, a[i])
        cuda.syncthreads()
        if b == 0:
            out[t] = cuda.atomic.add(word, t, 0)
        else:
            out[i] = a[i]
        """,
    "a message read without waiting": """
        if b == 0:
            cuda.atomic.exch(word, t, a[i])
            out[i] = a[i]
        else:
            out[i] = cuda.atomic.add(word, t, 0) - a[t] + a[i]
        """,
    "warps that must come in turn": """
        if t % 4 == 0:
            cuda.atomic.exch(word, 0, t // 4)
            seen = cuda.atomic.add(word, 0, 0)
        out[i] = a[i]
        if t % 4 == 0 and seen != t // 4:
            out[i] = 0
        """,
}
RIGHT = {
    "a ring": RING.format(full=FULL, take=TAKE),
    "look-back by tickets": """
        s = cuda.shared.array(2, int64)
        if t == 0:
            s[0] = cuda.atomic.add(count, 0, 1)
        cuda.syncthreads()
        me = s[0]
        if t == 0:
            if me > 0:
                while cuda.atomic.add(count, me, 0) == 0:
                    pass
                cuda.threadfence()
                s[1] = word[me - 1]
            else:
                s[1] = 0
            word[me] = s[1] + 1
            cuda.threadfence()
            cuda.atomic.exch(count, me + 1, 1)
        cuda.syncthreads()
        k = me * cuda.blockDim.x + t
        out[k] = a[k] + s[1] - me
        """,
    "the last block sums": """
        s = cuda.shared.array(1, int64)
        word[i] = a[i]
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            s[0] = cuda.atomic.add(count, 0, 1)
            cuda.threadfence()
        cuda.syncthreads()
        if s[0] == cuda.gridDim.x - 1:
            for k in range(t, 16, cuda.blockDim.x):
                out[k] = word[k]
        """,
    "a histogram": """
        cuda.atomic.add(out, i, a[i])
        if i == 3:
            cuda.atomic.max(count, 0, 5)
        """,
    "an exclusive lock": """
        if t == 0:
            while cuda.atomic.cas(count, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            word[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(count, 0, 0)
        out[i] = a[i]
        """,
    "tickets as work": """
        k = cuda.atomic.add(count, 0, 1)
        out[k] = a[k]
        """,
    "a barrier of the grid, by hand": """
        word[i] = a[i]
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
            while cuda.atomic.add(count, 0, 0) < cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[i] = word[(i + 5) % 16] - a[(i + 5) % 16] + a[i]
        """,
}


def _inputs(rng: np.random.Generator, case: Case) -> dict[str, np.ndarray]:
    return {"a": rng.permutation(np.arange(1, 3 * SIZE))[:SIZE].astype(np.int64)}


PUZZLE = KernelPuzzle(
    name="90_toys/kernel",
    title="orders",
    statement="Put a into out.",
    parameters={"kernel": ("out", "a", "word", "count")},
    cases=(Case("visible example", {}, visible=True),),
    random_case=lambda rng: Case("at random", {}),
    inputs=lambda rng, case: {
        **_inputs(rng, case),
        "word": np.zeros(SIZE, np.int64),
        "count": np.zeros(SIZE, np.int64),
        "out": np.zeros(SIZE, np.int64),
    },
    scratch=lambda inputs, case: {n: np.zeros(SIZE, np.int64) for n in ("word", "count")},
    launches=lambda case: (Launch("kernel", 2, 8, ("out", "a", "word", "count")),),
    reference=lambda inputs, case: {"out": inputs["a"]},
    hints=toy.TOY.hints,
    diagnoses={},
)


def _write(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + START + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n")
    return path


TOGETHER = replace(PUZZLE, together=True)
NEEDS_ALL = ("a ring", "a barrier of the grid, by hand")


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_a_result_that_hangs_on_the_order_is_found(body: str, tmp_path: Path) -> None:
    verdict = check(TOGETHER, answer=_write(tmp_path, body), seed=0)
    assert verdict.status == "failed"
    assert verdict.reason in ("order-dependent", "wrong-result"), verdict.message


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_one_that_does_not_passes(body: str, tmp_path: Path) -> None:
    verdict = check(TOGETHER, answer=_write(tmp_path, body), seed=0)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("name", RIGHT)
def test_where_blocks_come_one_by_one_none_may_wait_for_a_later_one(
    name: str, tmp_path: Path
) -> None:
    verdict = check(PUZZLE, answer=_write(tmp_path, RIGHT[name]), seed=0)
    if name in NEEDS_ALL:
        assert verdict.reason == "hazard"
        assert verdict.diagnosis == "waits-for-a-block-outside"
        assert "the GPU has room for 1 block at a time" in " ".join(verdict.message.split())
    else:
        assert verdict.passed, verdict.message


SPIN = """
    out[i] = a[i]
    cuda.syncthreads()
    if t == 0 and {who}:
        {before}
        while cuda.atomic.add(count, {cell}, 0) < {least}{more}:
            {turn}
    if t == 0:
        cuda.atomic.add(count, {cell_told}, 1)
"""


def _spin(
    who: str, least: str, cell: str = "0", told: str = "0", *, turn: str = "pass", more: str = ""
) -> str:
    before = "spins = 0" if "spins" in turn + more else "pass"
    parts = {"who": who, "least": least, "cell": cell, "cell_told": told, "turn": turn}
    return SPIN.format(**parts, before=before, more=more)


HANGS = {
    **{f"block {b} waits for all others": _spin(f"b == {b}", "3") for b in range(4)},
    "the last block waits for the first": _spin("b == 3", "1", "0", "b"),
    "each block waits for the one before it": _spin("b > 0", "1", "b - 1", "b"),
    "each block waits for the one after it": _spin("b < 3", "1", "b + 1", "b"),
    "a block waits and counts its turns": _spin("b == 0", "3", turn="spins += 1"),
    "a block waits and counts in memory": _spin("b == 0", "3", turn="cuda.atomic.add(word, 9, 1)"),
    "a block gives up after more turns than anybody lives to see": _spin(
        "b == 0", "3", turn="spins += 1", more=" and spins < 1000000"
    ),
    "whoever comes second waits for the third": """
        out[i] = a[i]
        if t == 0:
            if cuda.atomic.add(count, 0, 1) == 1:
                while cuda.atomic.add(count, 0, 0) < 3:
                    pass
        """,
    "all warps but one thread wait": """
        out[i] = a[i]
        if b == 2 and t > 0:
            while cuda.atomic.add(count, 0, 0) < 3:
                pass
        if b != 2 and t == 0:
            cuda.atomic.add(count, 0, 1)
        """,
}
IN_TIME = {
    "nobody waits for a block that may come later": """
        out[i] = a[i]
        if t == 0:
            me = cuda.atomic.add(count, 0, 1)
            while me > 0 and cuda.atomic.add(count, me, 0) == 0:
                pass
            cuda.atomic.exch(count, me + 1, 1)
        """,
    "a thread waits for another of its warp": """
        out[i] = a[i]
        if t == 1:
            while cuda.atomic.add(count, b, 0) == 0:
                pass
        if t == 2:
            cuda.atomic.exch(count, b, 1)
        """,
}
FOUR_BLOCKS = replace(
    PUZZLE, launches=lambda case: (Launch("kernel", 4, 4, ("out", "a", "word", "count")),)
)


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS)
def test_a_block_that_waits_for_another_is_found_whichever_it_is(body: str, tmp_path: Path) -> None:
    verdict = check(FOUR_BLOCKS, answer=_write(tmp_path, body), seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("hazard", "waits-for-a-block-outside")


@pytest.mark.parametrize("body", IN_TIME.values(), ids=IN_TIME)
def test_one_that_waits_for_whom_it_may_passes(body: str, tmp_path: Path) -> None:
    verdict = check(FOUR_BLOCKS, answer=_write(tmp_path, body), seed=0)
    assert verdict.passed, verdict.message


def test_further_orders_are_for_kernels_on_which_the_order_may_tell(tmp_path: Path) -> None:
    def matters(body: str) -> bool:
        return check_kernel(load(_write(tmp_path, body)).kernel("kernel")).order_matters

    assert not matters("cuda.atomic.add(count, 0, 1)")
    assert not matters("out[i] = a[i]")
    assert matters("out[cuda.atomic.add(count, 0, 1)] = 1")
    assert matters("cuda.atomic.exch(count, 0, 1)")
