"""A loop that ends earlier in some blocks than in others: each block counts as if it ran alone.

Blocks run side by side, and one whose loop has ended waits for the others. What is counted, found
and left in memory must not show that; so the oracle is the same blocks, with a launch for each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, uint32

from simt.simulator import simulate

WARPS = 2
TPB = 64
ALL_LANES = 0xFFFFFFFF
LENGTHS = (3, 40, 0, 97, 40, 1)


@cuda.jit
def tiles(out, x, lengths, first):
    tile = cuda.shared.array((WARPS, 33), float32)
    row = cuda.blockIdx.x + first
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    total = float32(0)
    for start in range(0, lengths[row], 32):
        col = uint32(start + lane)
        tile[warp, lane] = x[row, col] if col < lengths[row] else float32(0)
        cuda.syncthreads()
        scale = float32(start + 1)
        for j in range(min(32, lengths[row] - start)):
            total += tile[1 - warp, j] * scale
        cuda.syncthreads()
    out[row, t] = total


@cuda.jit
def running(out, x, lengths, first):
    row = cuda.blockIdx.x + first
    t = cuda.threadIdx.x
    most = float32(-1000)
    total = float32(0)
    col = t // 32
    while col < lengths[row]:
        number = x[row, col]
        for step in range(5):
            number += cuda.shfl_xor_sync(ALL_LANES, number, 1 << step)
        if number > most:
            total = total * (most / number)
            most = number
        total += number
        col += 2
    out[row, t] = total + most


@cuda.jit
def mixed(out, x, lengths, first):
    row = cuda.blockIdx.x + first
    t = cuda.threadIdx.x
    last = 0
    for col in range(lengths[row]):
        last = col
        if col % 7 == 3 and t > 40:
            continue
        if col == 60:
            break
        last = 2 * col
    out[row, t] = x[row, min(last, 90)] * float32(last)


def results(
    kernel: Callable[..., Any], firsts: list[int], blocks: int
) -> tuple[np.ndarray, Any, list[str]]:
    """Returns what launches of so many blocks leave, count together, and find."""
    x = np.random.default_rng(0).integers(1, 50, (len(LENGTHS), 128)).astype(np.float32)
    lengths, out = np.array(LENGTHS), np.full((len(LENGTHS), TPB), np.nan, np.float32)
    reports = [simulate(kernel)[blocks, TPB](out, x, lengths, first) for first in firsts]
    found = [hazard.message for report in reports for hazard in report.hazards]
    return out, reduce(add, [report.counters for report in reports]), found


@pytest.mark.parametrize("kernel", [tiles, running, mixed], ids=lambda kernel: kernel.__name__)
def test_blocks_together_count_what_they_count_alone(kernel: Callable[..., Any]) -> None:
    together, counted, found = results(kernel, [0], len(LENGTHS))
    alone, each_counted, each_found = results(kernel, list(range(len(LENGTHS))), 1)
    assert np.array_equal(together, alone) and not np.isnan(together).any()
    assert counted == each_counted
    assert found == each_found == []


@cuda.jit
def late_race(out, x, lengths, first):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x + first
    t = cuda.threadIdx.x
    total = float32(0)
    for col in range(lengths[row]):
        tile[t] = x[row, col]
        cuda.syncthreads()
        total += tile[TPB - 1 - t]
        if col < 60:
            cuda.syncthreads()
    out[row, t] = total


def test_a_race_of_the_last_block_that_runs_is_found() -> None:
    """All others have met at barriers long ago, and it has met too, until then."""
    _, _, found = results(late_race, [0], len(LENGTHS))
    _, _, alone = results(late_race, [LENGTHS.index(97)], 1)
    assert found and alone
    kinds = [message.partition(":")[0] for message in (found[0], alone[0])]
    assert kinds[0] == kinds[1]


@cuda.jit
def other_value(out, x, lengths, first):
    row = cuda.blockIdx.x + first
    t = cuda.threadIdx.x
    last = 7
    for col in range(lengths[row]):
        last = col
    out[row, t] = last


def test_what_the_others_have_is_kept_where_some_assign_one_number() -> None:
    out, _, found = results(other_value, [0], len(LENGTHS))
    assert found == []
    assert out[:, 0].tolist() == [length - 1 if length else 7 for length in LENGTHS]


@cuda.jit
def asks_absent_lanes(out):
    t = cuda.threadIdx.x
    x = t
    for _ in range(2):
        if t < 16:
            out[t] = cuda.shfl_down_sync(0xFFFFFFFF, x, 16)
            x = 100


def test_a_lane_that_is_absent_gives_what_it_has_itself() -> None:
    """A hazard, after which the launch goes on: what is read is not what the others assigned."""
    out = np.zeros(32, np.float32)
    report = simulate(asks_absent_lanes)[1, 32](out)
    assert {hazard.kind for hazard in report.hazards} == {"inactive-lane"}
    assert out[:16].tolist() == list(range(16, 32))
