"""How the work is shared on the way to a result is the answer's to choose, as long as it is shared.

Good kernels of other shapes than the solution's pass. Those in which one thread does the work of
its block are refused, also where each thread stores the results that are its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.puzzle import KernelPuzzle, index

HEAD = (
    "import math\n\nfrom numba import cuda, float32, int32, int64, uint32\n\nALL = 0xFFFFFFFF\n\n"
)

GOOD = {
    ("block_sum", "up-sweep: the cells of a step lie apart"): """
TPB = 128


@cuda.jit
def block_sum(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < TPB:
        k = (t + 1) * 2 * step - 1
        if k < TPB:
            tile[k] += tile[k - step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[TPB - 1]
""",
    ("block_sum", "raking: the lanes of one warp sum four cells each"): """
TPB = 128


@cuda.jit
def block_sum(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if t < 32:
        total = float32(0)
        for k in range(4):
            total += tile[t + 32 * k]
        for delta in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, delta)
        if t == 0:
            out[cuda.blockIdx.x] = total
""",
    ("scan_block", "raking: one warp scans four cells for each of its lanes"): """
TPB = 128


@cuda.jit
def scan_block(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if t < 32:
        for k in range(4 * t + 1, 4 * t + 4):
            tile[k] += tile[k - 1]
        total = tile[4 * t + 3]
        for delta in (1, 2, 4, 8, 16):
            before = cuda.shfl_up_sync(ALL, total, delta)
            if t >= delta:
                total += before
        before = cuda.shfl_up_sync(ALL, total, 1)
        if t > 0:
            for k in range(4 * t, 4 * t + 4):
                tile[k] += before
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t]
""",
    ("scan_block", "a sum for each warp, and each thread adds those before its own"): """
TPB = 128


@cuda.jit
def scan_block(out, a, size):
    sums = cuda.shared.array(4, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // 32
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if lane >= delta:
            total += before
    if lane == 31:
        sums[warp] = total
    cuda.syncthreads()
    for k in range(warp):
        total += sums[k]
    if i < size:
        out[i] = total
""",
    ("matmul_naive", "a tile of b, whole, whatever k is"): """
DEEP = 32
WIDE = 32


@cuda.jit
def matmul_naive(out, a, b, m, n, k):
    tile = cuda.shared.array((DEEP, WIDE), float32)
    col, row = cuda.grid(2)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    total = float32(0)
    for start in range(0, k, DEEP):
        for down in range(y, DEEP, 8):
            there = start + down < k and col < n
            tile[down, x] = b[start + down, col] if there else float32(0)
        cuda.syncthreads()
        if row < m and col < n:
            for p in range(min(DEEP, k - start)):
                total += a[row, start + p] * tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total
""",
    ("histogram_private", "a table for each warp"): """
TPB = 128
BINS = 200
WARPS = 4


@cuda.jit
def histogram_private(counts, values, size):
    own = cuda.shared.array((WARPS, BINS), int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        for warp in range(WARPS):
            own[warp, k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, (t // 32, values[i]), 1)
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        total = own[0, k]
        for warp in range(1, WARPS):
            total += own[warp, k]
        cuda.atomic.add(counts, k, total)
""",
    ("block_reverse", "one warp brings the cells of two"): """
TPB = 64


@cuda.jit
def block_reverse(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if t < 32:
        for k in range(t, length, 32):
            tile[k] = a[start + k]
    cuda.syncthreads()
    if t < length:
        out[start + t] = tile[length - 1 - t]
""",
    ("transpose_naive", "one cell after the other"): """
TILE = 32
THREAD_ROWS = 8
PER_THREAD = 4


@cuda.jit
def transpose_naive(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for k in range(PER_THREAD):
        row = top + k * THREAD_ROWS
        if row < rows and col < cols:
            out[col, row] = a[row, col]
""",
    ("conv1d", "each lane of a warp brings a weight and keeps it, and shuffles hand it out"): """
TPB = 64
MAX_TAPS = 16
SPAN = TPB + MAX_TAPS


@cuda.jit
def conv1d(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    if t < taps:
        weights[t] = w[t]
    for k in range(t, SPAN, TPB):
        tile[k] = a[start + k] if k < TPB + taps - 1 and start + k < size else float32(0)
    cuda.syncthreads()
    mine = weights[t % 32] if t % 32 < taps else float32(0)
    total = float32(0)
    for k in range(taps):
        total += cuda.shfl_sync(ALL, mine, k) * tile[t + k]
    if start + t < size:
        out[start + t] = total
""",
    ("pooling", "the largest of two, and then of two such"): """
TPB = 64
WINDOW = 4


@cuda.jit
def pooling(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    pairs = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        pairs[col] = max(tile[col], tile[max(col - 1, 0)])
    cuda.syncthreads()
    if col < cols:
        out[row, col] = max(pairs[col], pairs[max(col - 2, 0)])
""",
    ("top_k", "the row waits in the tile, and a tree finds each of the k"): """
TPB = 128
WARPS = 4
MOST = 2048


@cuda.jit(device=True)
def key_of(x, col):
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = int32(bits ^ 0x7FFFFFFF) if bits < 0 else bits
    if x != x:
        upper = int32(0x7FFFFFFF)
    return (int64(upper) << int64(32)) | int64(uint32(~col))


@cuda.jit
def top_k(values, places, logits, cols, k):
    kept = cuda.shared.array(MOST, float32)
    best = cuda.shared.array(TPB, int64)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for col in range(t, cols, TPB):
        kept[col] = logits[row, col]
    last = int64(0)
    for n in range(k):
        mine = int64(-0x7FFFFFFFFFFFFFFF)
        for col in range(t, cols, TPB):
            key = key_of(kept[col], uint32(col))
            if n == 0 or key < last:
                mine = max(mine, key)
        best[t] = mine
        cuda.syncthreads()
        step = TPB // 2
        while step > 0:
            if t < step:
                best[t] = max(best[t], best[t + step])
            cuda.syncthreads()
            step //= 2
        last = best[0]
        col = uint32(~uint32(last))
        if t == n:
            places[row, n] = int32(col)
            values[row, n] = kept[col]
        cuda.syncthreads()
""",
}

SERIAL = {
    ("block_sum", "all bring, one adds"): """
TPB = 128


@cuda.jit
def block_sum(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(TPB):
            total += tile[k]
        out[cuda.blockIdx.x] = total
""",
    ("block_sum", "one brings and adds"): """
TPB = 128


@cuda.jit
def block_sum(out, a, size):
    if cuda.threadIdx.x == 0:
        start = cuda.blockIdx.x * TPB
        total = float32(0)
        for k in range(start, min(start + TPB, size)):
            total += a[k]
        out[cuda.blockIdx.x] = total
""",
    ("scan_block", "all bring, one scans, all store"): """
TPB = 128


@cuda.jit
def scan_block(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if t == 0:
        for k in range(1, TPB):
            tile[k] += tile[k - 1]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t]
""",
    ("histogram_private", "one thread counts for its block"): """
TPB = 128
BINS = 200


@cuda.jit
def histogram_private(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    if t == 0:
        for first in range(cuda.blockIdx.x * TPB, size, cuda.gridsize(1)):
            for i in range(first, min(first + TPB, size)):
                own[values[i]] += 1
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])
""",
    ("matmul_naive", "one thread computes for the block, through a tile"): """
WIDE = 32
HIGH = 8


@cuda.jit
def matmul_naive(out, a, b, m, n, k):
    tile = cuda.shared.array((HIGH, WIDE), float32)
    col, row = cuda.grid(2)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    if x == 0 and y == 0:
        for down in range(HIGH):
            for right in range(WIDE):
                total = float32(0)
                if row + down < m and col + right < n:
                    for p in range(k):
                        total += a[row + down, p] * b[p, col + right]
                tile[down, right] = total
    cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = tile[y, x]
""",
    ("add_ten", "one thread computes for all, through a tile"): """
MOST = 1024


@cuda.jit
def add_ten(out, a):
    tile = cuda.shared.array(MOST, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    cuda.syncthreads()
    if i == 0:
        for k in range(a.shape[0]):
            tile[k] += 10
    cuda.syncthreads()
    out[i] = tile[i]
""",
    ("block_reverse", "one thread turns the tile round"): """
TPB = 64


@cuda.jit
def block_reverse(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if t < length:
        tile[t] = a[start + t]
    cuda.syncthreads()
    if t == 0:
        for k in range(length // 2):
            kept = tile[k]
            tile[k] = tile[length - 1 - k]
            tile[length - 1 - k] = kept
    cuda.syncthreads()
    if t < length:
        out[start + t] = tile[t]
""",
    ("pooling", "one thread pools the row"): """
TPB = 64
WINDOW = 4


@cuda.jit
def pooling(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col == 0:
        for k in range(cols - 1, 0, -1):
            for back in range(1, min(WINDOW, k + 1)):
                tile[k] = max(tile[k], tile[k - back])
    cuda.syncthreads()
    if col < cols:
        out[row, col] = tile[col]
""",
}


def verdict_on(name: str, body: str, tmp_path: Path):
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    file = tmp_path / f"{name}.py"
    file.write_text(HEAD + body.lstrip("\n"), encoding="utf-8")
    return check(puzzle, answer=file, seed=0)


@pytest.mark.parametrize(("name", "way"), GOOD, ids=str)
def test_a_good_kernel_of_another_shape_passes(name: str, way: str, tmp_path: Path) -> None:
    verdict = verdict_on(name, GOOD[name, way], tmp_path)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("name", "way"), SERIAL, ids=str)
def test_one_thread_with_the_work_of_its_block_is_refused(
    name: str, way: str, tmp_path: Path
) -> None:
    verdict = verdict_on(name, SERIAL[name, way], tmp_path)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget"), verdict.message
    assert verdict.diagnosis == "not-shared", verdict.message
    first, *rest = verdict.message.splitlines()
    assert first.startswith("right, but not shared out: one thread takes ")
    assert any("A step is a load" in line for line in rest)
