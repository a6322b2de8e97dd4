"""What is counted once for a pattern is what counting every access would give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.observe.transactions import by_group, count_wavefronts, repeated
from simt.report import Report, SharedCounters
from simt.simulator import simulate


def brute_force(address: list[int], lanes: list[int], itemsize: int) -> SharedCounters:
    at_once = 32 // max(1, itemsize // 4)
    turns = sorted({lane // at_once for lane in lanes})
    wavefronts = 0
    for turn in turns:
        words = {
            word
            for a, lane in zip(address, lanes, strict=True)
            if lane // at_once == turn
            for word in range(a // 4, (a + itemsize - 1) // 4 + 1)
        }
        wavefronts += max(sum(word % 32 == bank for word in words) for bank in range(32))
    requests = len({lane // 32 for lane in lanes})
    return SharedCounters(requests, wavefronts, wavefronts - len(turns))


@given(
    cells=st.dictionaries(st.integers(0, 127), st.integers(0, 200), min_size=1),
    itemsize=st.sampled_from([1, 2, 4, 8, 16]),
)
def test_wavefronts_of_scattered_lanes(cells: dict[int, int], itemsize: int) -> None:
    lanes = sorted(cells)
    address = [cells[lane] * itemsize for lane in lanes]
    counted = count_wavefronts(np.array(address), np.array(lanes), itemsize)
    assert counted == brute_force(address, lanes, itemsize)


@given(
    step=st.integers(-40, 40),
    per_warp=st.integers(-300, 300),
    first_lane=st.integers(0, 200),
    itemsize=st.sampled_from([1, 2, 4, 8, 16]),
)
def test_wavefronts_of_lanes_in_step(
    step: int, per_warp: int, first_lane: int, itemsize: int
) -> None:
    lanes = list(range(first_lane, 224))
    address = [(10_000 + lane * step + lane // 32 * per_warp) * itemsize for lane in lanes]
    counted = count_wavefronts(np.array(address), np.array(lanes), itemsize)
    assert counted == brute_force(address, lanes, itemsize)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12))
def test_rows_hold_each_group(sizes: list[int]) -> None:
    groups = np.repeat(np.arange(len(sizes)) * 3, sizes)
    values = np.arange(groups.size) * 7
    rows = by_group(values, groups)
    for row, group in zip(rows, np.unique(groups), strict=True):
        assert set(row) == set(values[groups == group])


@given(st.lists(st.sampled_from([(1, 2), (2, 1), (3, 3), (0, 0), (5, 6), (7, 8)]), min_size=1))
def test_every_row_is_counted(rows: list[tuple[int, int]]) -> None:
    found: list[tuple[int, int]] = []
    for pattern, times in repeated(np.array(rows)):
        found += [tuple(row) for row in pattern.tolist()] * times
    assert sorted(found) == sorted(rows)


TURNS = 5
BODIES = {
    "one cell for all": "s += a[k]",
    "along a row": "s += b[t, k]",
    "along a column": "s += b[k, t]",
    "backwards": f"s += b[t, {TURNS - 1} - k]",
    "not from the start": "s += b[t, k + 3]",
    "a step of two": "s += b[t, 2 * k]",
    "past the end of a row": "s += b[t, k + 38]",
    "before the start of a row": "s += b[t, k - 2]",
    "fewer lanes": "if t < 20:\n        s += b[t, k]",
    "fewer lanes each turn": "if t < 7 * k:\n        s += b[t, k]",
    "a row of its own each turn": "s += b[t + k, 3]",
    "through a view": "row = b[t]\n    s += row[k]",
    "bytes": "s += d[t, k]",
    "shared": "s += tile[t, k]",
    "shared column": "s += tile[k, t]",
    "shared bytes": "small[t, k] = 1\n    s += small[t, k]",
    "shared never written": "s += empty[t, k]",
    "stores": "b[t, k] = s",
    "adds in place": "tile[t, k] += 1\n    s += tile[t, k]",
    "atomics": "cuda.atomic.add(b, (t, k), 1)",
    "a race": "b[0, k] = t",
    "a race with a load": "s += b[0, k]\n    b[t, k] = s",
    "a race in shared memory": "tile[t, k] = s\n    s += tile[(t + 1) % 40, k]",
    "no race behind a barrier": (
        "tile[t, k] = s\n    cuda.syncthreads()\n    s += tile[(t + 1) % 40, k]\n"
        "    cuda.syncthreads()"
    ),
    "int32 indices": "s += b[cuda.threadIdx.x, k]",
}
HEAD = """
from numba import cuda, float32, int8


@cuda.jit
def kernel(out, a, b, d):
    tile = cuda.shared.array((40, 40), float32)
    small = cuda.shared.array((40, 17), int8)
    empty = cuda.shared.array((40, 40), float32)
    t = cuda.threadIdx.x
    s = float32(0)
    for n in range(40):
        tile[t, n] = n
    cuda.syncthreads()
"""
TAIL = "    out[cuda.grid(1)] = s\n"


def launch(path: Path, loop: str) -> tuple[Report, list[np.ndarray]]:
    path.write_text(HEAD + loop + TAIL)
    rng = np.random.default_rng(0)
    arrays = [
        np.zeros(80, np.float32),
        rng.random(40, np.float32),
        rng.random((44, 41), np.float32),
        rng.integers(0, 100, (40, 13)).astype(np.int8),
    ]
    return simulate(f"{path}:kernel")[2, 40](*arrays), arrays


def found(report: Report) -> set[tuple[str, str]]:
    """What a loop and its turns written out agree on: neither lines nor how often."""
    return {(h.kind, str(h.details.get("array", ""))) for h in report.hazards}


@pytest.mark.parametrize("name", BODIES)
def test_a_loop_counts_like_its_turns_written_out(name: str, tmp_path: Path) -> None:
    body = BODIES[name]
    rolled = f"    for k in range({TURNS}):\n" + "".join(
        f"    {line}\n" for line in f"    {body}".splitlines()
    )
    unrolled = "".join(f"    k = {turn}\n    {body}\n" for turn in range(TURNS))
    one, arrays = launch(tmp_path / "rolled.py", rolled)
    two, expected = launch(tmp_path / "unrolled.py", unrolled)
    for array, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(array, other)
    for kind in ("global_load", "global_store", "red", "atom", "shared_load", "shared_store"):
        assert getattr(one.counters, kind) == getattr(two.counters, kind), kind
    assert found(one) == found(two)
    lanes = sum(h.details["count"] for h in one.hazards if h.kind != "race")
    assert lanes == sum(h.details["count"] for h in two.hazards if h.kind != "race")
