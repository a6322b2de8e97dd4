"""The costliest requests: what they cost is what the counters count, and each says whose it is."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from simt.observe.requests import CostliestRequests, WarpRequest
from simt.simulator import simulate


def turned(out, a):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for row in range(y, 32, 8):
        tile[row, x] = a[row, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    for row in range(y, 32, 8):
        out[cuda.blockIdx.x * 32 + x, row] = tile[x, row] + tile[row, x]


def late(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i // 32 * i]


def watched(kernel, grid, block, *arguments):
    requests = CostliestRequests()
    report = simulate(kernel, observers=(requests,))[grid, block](*arguments)
    return report, requests.found


def sectors(request: WarpRequest) -> int:
    asked = {each // 32 for each in request.addresses if each is not None}
    return len(asked)


def test_the_worst_request_of_each_line_and_array() -> None:
    a = np.zeros((32, 64), np.float32)
    report, found = watched(turned, 2, (32, 8), np.zeros((64, 32), np.float32), a)
    by_array = {(each.array, each.kind, each.space): each for each in found.values()}
    assert set(by_array) == {
        ("a", "read", "global"), ("out", "write", "global"), ("tile", "read", "shared"),
        ("tile", "write", "shared"),
    }  # fmt: skip
    store = by_array["out", "write", "global"]
    assert (store.cost, store.least, sectors(store)) == (32, 4, 32)
    assert by_array["a", "read", "global"].excess == 0
    # Two reads of the tile on one line: the one down the columns is kept.
    read = by_array["tile", "read", "shared"]
    assert read.excess == 31 and {a // 4 % 32 for a in read.addresses if a is not None} == {0}
    assert read.line in report.by_line


def test_a_request_says_the_block_and_the_warp_it_is_of() -> None:
    size = 90
    _, found = watched(late, 3, 32, np.zeros(96, np.float32), np.zeros(400, np.float32), size)
    request = next(each for each in found.values() if each.array == "a")
    # In block 0 all read one cell; in block 1 neighbours; in block 2 every second cell.
    assert (request.block, request.warp, request.cost - request.least) == (2, 0, request.excess)
    assert request.excess > 0
    first = min(each for each in request.addresses if each is not None)
    assert first == 2 * 64 * 4 and request.addresses.count(None) == 96 - size
