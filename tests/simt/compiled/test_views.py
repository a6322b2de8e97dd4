"""Rows and slices of arrays: what each lane finds in them, and what is wrong with some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32

from simt.compiled import jit
from simt.simulator import simulate
from tests.simt.compiled.both_ways import HAZARD, SAME, Seen, both_ways

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")

SIDE = 40


def seen(kernel: Callable[..., None], shape: Any = (3, 32), **how: Any) -> Seen:
    rng = np.random.default_rng(2)
    a = rng.standard_normal((SIDE, SIDE)).astype(np.float32)
    v = rng.standard_normal(4 * SIDE).astype(np.float32)
    with both_ways(Seen()) as found:
        simulate(kernel, **how)[shape](np.zeros((3 * SIDE, 4), np.float32), a, v)
    assert not found.wrong, found.wrong
    return found


@cuda.jit(device=True)
def dot(x, y):
    total = float32(0)
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@cuda.jit(device=True)
def fill(row, x):
    for k in range(len(row)):
        row[k] = x + float32(k)


def rows(out, a, v):
    i = cuda.grid(1)
    if i < SIDE:
        out[i, 0] = dot(a[i], a[SIDE - 1 - i])
        fill(out[SIDE + i], a[i, 3])


def columns(out, a, v):
    i = cuda.grid(1)
    if i < SIDE:
        column = a[:, i]
        out[i, 0] = dot(column[2:], a[i, 2:])
        out[i, 1] = len(column[::3]) + column[::-1][0] + column[-4:].shape[0]


def rests(out, a, v):
    i = cuda.grid(1)
    rest = v[i:]
    if i < v.size:
        for k in range(3):
            if k < rest.shape[0]:
                out[i, k] = rest[k]
        part = v[i : i + 7 : 2]
        total = float32(0)
        for k in range(part.shape[0]):
            total += part[k]
        out[i, 3] = total


def blocks(out, a, v):
    tile = a[8 * cuda.blockIdx.x : 8 * cuda.blockIdx.x + 8, 4:36]
    t = cuda.threadIdx.x
    for r in range(8):
        tile[r, t] = tile[r, t] * 2
    cuda.syncthreads()
    out[cuda.grid(1), 0] = tile[7 - t % 8, t]


def names(out, a, v):
    i = cuda.grid(1)
    if i < SIDE:
        row = a[i]
        before = row
        for k in range(3):
            if (i + k) % 2:
                row = a[(i + k) % SIDE]
            out[i, k] = row[k] + before[k]


def of_tiles(out, a, v):
    t = cuda.threadIdx.x
    tile = cuda.shared.array((4, 32), float32)
    mine = cuda.local.array(6, float32)
    for k in range(4):
        tile[k][t] = v[t] + float32(k)
    fill(mine[1:4], v[t])
    cuda.syncthreads()
    row = tile[t % 4]
    half = mine[2:4]
    out[cuda.grid(1), 0] = row[31 - t] + half[1]
    out[cuda.grid(1), 1] = dot(row[::2], tile[1, 16:])


def updated(out, a, v):
    i = cuda.grid(1)
    row = out[i % 5]
    cuda.atomic.add(row, i % 3, v[i])
    cuda.atomic.max(row[3:], 0, float32(i))


def over(out, a, v):
    i = cuda.grid(1)
    if i < SIDE:
        total = float32(0)
        for x in a[i]:
            total += x
        out[i, 0] = total
        for x in v[i % 7 :]:
            if x > 1:
                break
            total += x
        else:
            total = float32(0)
        out[i, 1] = total
        for x, y in zip(a[i], v[i : i + i % 5]):  # noqa: B905 - of Numba
            if y > x:
                continue
            total += x * y
        for x in v[3:40]:
            if x > 2:
                break
            total -= x
        out[i, 2] = total


@pytest.mark.parametrize(
    "kernel",
    [rows, columns, rests, blocks, names, of_tiles, updated, over],
    ids=lambda kernel: kernel.__name__,
)
def test_views_are_what_they_are_to_the_interpreter(kernel: Callable[..., None]) -> None:
    found = seen(kernel, counters=kernel is not columns)
    assert found.counts[SAME] == 1, found


def outside(out, a, v):
    i = cuda.grid(1)
    row = a[i]
    out[i, 0] = row[0]


def beyond_the_slice(out, a, v):
    i = cuda.grid(1)
    part = v[i : i + 4]
    out[i, 0] = part[i // 20]


def from_the_end(out, a, v):
    i = cuda.grid(1)
    if i < SIDE:
        out[i, 0] = a[i][-1]


def race_by_rows(out, a, v):
    i = cuda.grid(1)
    if i < SIDE:
        row = a[i // 2]
        row[i % 3] = v[i]
        out[i, 0] = a[(i + 2) % SIDE // 2][0]


def updated_and_read(out, a, v):
    i = cuda.grid(1)
    row = out[0]
    cuda.atomic.add(row, 1, v[i])
    out[i, 3] = out[0, 1]


def stored_by_two_names(out, a, v):
    i = cuda.grid(1)
    row = out[5]
    row[2] = v[i]
    out[6 - i % 2, 2] = v[i]


def unset_tile(out, a, v):
    tile = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    row = tile[1]
    tile[0][t] = v[t]
    out[cuda.grid(1), 0] = row[t]


def no_barrier(out, a, v):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t:][0] = v[t]
    back = tile[::-1]
    out[cuda.grid(1), 0] = back[t]


@pytest.mark.parametrize(
    "kernel",
    [
        outside,
        beyond_the_slice,
        from_the_end,
        race_by_rows,
        updated_and_read,
        stored_by_two_names,
        unset_tile,
        no_barrier,
    ],
    ids=lambda kernel: kernel.__name__,
)
def test_what_is_wrong_with_a_view_is_suspicious(kernel: Callable[..., None]) -> None:
    found = seen(kernel)
    assert found.counts[HAZARD] == 1, found
