"""Who touches which cells, and in how many steps: counted here by hand for one small kernel."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32, float64

from gpu_course import simulate
from simt.observe import shares
from simt.observe.shares import Shares

FULL = 0xFFFFFFFF
TPB = 4


@cuda.jit
def uneven(out, a):
    """Two blocks of four: the first thread of each adds up what all four brought."""
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    if t == 0:
        for k in range(1, TPB):
            tile[0] += tile[k]
        cuda.atomic.add(out, 0, tile[0])
    cuda.shfl_sync(FULL, t, 0)


def watched() -> Shares:
    watch = Shares()
    out, a = np.zeros(1, np.float32), np.arange(8, dtype=np.float32)
    assert simulate(uneven, observers=(watch,))[2, TPB](out, a).ok
    assert out[0] == a.sum()
    return watch


def test_a_cell_counts_once_for_a_thread_and_once_for_all() -> None:
    found = {(each.array, each.wrote): each for each in watched().found()}
    assert found["a", False].cells.tolist() == [1] * 8 and found["a", False].touched == 8
    assert found["out", True].cells.tolist() == [1, 0, 0, 0] * 2 and found["out", True].touched == 1
    assert found["tile", True].cells.tolist() == [1] * 8 and found["tile", True].touched == 8
    assert found["tile", False].cells.tolist() == [4, 0, 0, 0] * 2
    assert found["tile", False].touched == 8  # four cells of each block's own tile


def test_a_step_counts_each_time() -> None:
    steps = watched().steps()
    assert steps.at_global.tolist() == [2, 1, 1, 1] * 2
    # A store each; then three times two loads and a store, and the load for the atomic.
    assert steps.at_shared.tolist() == [1 + 3 * 3 + 1, 1, 1, 1] * 2
    assert steps.shuffles.tolist() == [1] * 8


def test_many_pairs_are_sorted_and_few_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    def texts() -> list[str]:
        found = watched()
        return [*map(repr, found.found()), repr(found.steps())]

    marked = texts()
    monkeypatch.setattr(shares, "MAX_MARKS", 8)
    assert texts() == marked
    monkeypatch.setattr(shares, "MAX_WAITING", 3)
    assert texts() == marked


def further(out, a):
    """Two arrays in the same memory, of which the second reaches further."""
    i = cuda.grid(1)
    if i == 3:
        out[0] = 1.0
        a[7] = 1.0


def two_types(out):
    small = cuda.shared.array(0, float64)
    large = cuda.shared.array(0, float32)
    if cuda.threadIdx.x == 3:
        small[0] = 1.0
        large[2] = float32(1)
        out[0] = small[0]


@pytest.mark.parametrize("name", ["one argument in another", "dynamic memory of two types"])
def test_arrays_in_the_same_memory_reach_as_far_as_they_do(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[str]:
        watch, memory = Shares(), np.zeros(8)
        if name == "one argument in another":
            simulate(further, observers=(watch,))[1, 4](memory[:4], memory)
        else:
            simulate(two_types, observers=(watch,))[1, 4, 0, 12](memory)
        assert watch.steps().at_global.sum()
        return [*map(repr, watch.found()), repr(watch.steps())]

    marked = found()
    monkeypatch.setattr(shares, "MAX_MARKS", 0)
    assert found() == marked
