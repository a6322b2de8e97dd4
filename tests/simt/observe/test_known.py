"""What threads know of others: kept right, and for the same price at each hand-over."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.observe import known
from simt.observe.known import NOTHING, Known, known_until
from simt.simulator import simulate
from tests.sampling import examples

PER_BLOCK = 40
THREADS = st.integers(0, 30_000)
PART = st.tuples(
    st.dictionaries(THREADS, st.integers(1, 99), max_size=6), st.integers(0, 700), st.integers(0, 9)
)


def _known(part: tuple[dict[int, int], int, int]) -> Known:
    times, block, block_time = part
    threads = np.array(sorted(times), np.int64)
    return known_until(
        threads, np.array([times[t] for t in sorted(times)], np.int32), block, block_time
    )


@settings(max_examples=examples(200, few=60))
@given(st.lists(PART, min_size=1, max_size=6), st.lists(THREADS, min_size=1, max_size=20))
def test_what_several_know_is_the_latest_that_any_of_them_knows(
    parts: list[tuple[dict[int, int], int, int]], asked: list[int]
) -> None:
    everything = NOTHING
    for part in parts:
        everything = everything.join(_known(part))
    asked += [t for times, _, _ in parts for t in times]
    latest = {
        t: max(
            max(times.get(t, 0), block_time if t // PER_BLOCK == block else 0)
            for times, block, block_time in parts
        )
        for t in asked
    }
    threads = np.array(asked)
    for time in (0, 1, 5, 50):
        found = everything.covers(threads, np.full(threads.size, time), PER_BLOCK)
        assert found.tolist() == [time < latest[t] for t in asked]


def test_joining_changes_neither_and_makes_nothing_new_of_what_is_known() -> None:
    one = _known(({5: 3, 900: 4}, 2, 7))
    more = one.join(_known(({5: 9}, 0, 0)))
    assert one.covers(np.array([5]), np.array([3]), PER_BLOCK).tolist() == [False]
    assert more.covers(np.array([5]), np.array([3]), PER_BLOCK).tolist() == [True]
    assert more.join(one) is more and one.join(more) is more
    assert one.join(NOTHING) is one and NOTHING.join(one) is one


HEAD = """from numba import cuda
@cuda.jit
def kernel(out, n, flag):
    b = cuda.blockIdx.x
"""
CHAIN = """
    if b > 0:
        while cuda.atomic.add(flag, b - 1, 0) == 0:
            pass
        cuda.threadfence()
        out[b] = out[b - 1] + 1
    cuda.threadfence()
    cuda.atomic.exch(flag, b, 1)
"""
ROWS = """
    for c in range(n):
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) <= c:
                pass
            cuda.threadfence()
            out[c * n + b] = out[c * n + b - 1] + 1
        cuda.threadfence()
        cuda.atomic.add(flag, b, 1)
"""
# name -> (body, how often as many hand-overs there are with twice as many blocks)
GROWTH = {"a chain of blocks": (CHAIN, 2), "rows that follow one another": (ROWS, 4)}


@pytest.mark.parametrize("name", GROWTH)
def test_a_hand_over_costs_as_much_however_many_came_before(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, times = GROWTH[name]
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(body), "    "))
    touched = 0

    def counting(right: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
        def counted(*given: Any) -> Any:
            nonlocal touched
            touched += size(*given)
            return right(*given)

        return counted

    monkeypatch.setattr(known, "joined", counting(known.joined, lambda one, other: 1))
    monkeypatch.setattr(known, "_tree", counting(known._tree, lambda numbers, _: numbers.size))
    monkeypatch.setattr(known, "_times_of", counting(known._times_of, lambda _, n: n.size))
    found = []
    for blocks in (24, 48):
        touched = 0
        flags, out = np.zeros(blocks, np.int64), np.zeros(blocks * blocks)
        assert simulate(f"{path}:kernel")[blocks, 1](out, blocks, flags).ok
        found.append(touched)
    assert found[1] < 1.1 * times * found[0], found
