"""Wrong answers to matmul_bias_gelu that learners give."""

import math

from numba import cuda, float32

TILE = 16
HALF = float32(0.5)
ONE = float32(1)
ROOT_HALF = float32(0.7071067811865476)


# hazard, out-of-bounds: Every thread finishes a cell, even where out has none.
@cuda.jit
def no_guard(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    v = total + bias[col]
    out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# hazard, race: Brings the bias through a tile and uses it at once.
@cuda.jit
def bias_through_a_tile(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    bias_tile = cuda.shared.array(TILE, float32)
    if y == 0 and col < n:
        bias_tile[x] = bias[col]
    if row < m and col < n:
        v = total + bias_tile[x]
        out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# hazard, barrier-divergence: Waits for that tile where not all threads come by.
@cuda.jit
def waits_behind_the_guard(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    bias_tile = cuda.shared.array(TILE, float32)
    if y == 0 and col < n:
        bias_tile[x] = bias[col]
    if row < m and col < n:
        cuda.syncthreads()
        v = total + bias_tile[x]
        out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# wrong-result, bias-of-the-row: Takes the bias of the row.
@cuda.jit
def bias_of_the_row(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        v = total + bias[row]
        out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# wrong-result, bias-behind: Adds the bias to what gelu gives.
@cuda.jit
def bias_behind_gelu(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        v = total
        out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF)) + bias[col]


# wrong-result, bias-each-round: Adds the bias where the products are added, round after round.
@cuda.jit
def bias_in_each_round(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    start = 0
    while start < k:
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        if col < n:
            total += bias[col]
        cuda.syncthreads()
        start += TILE
    if row < m and col < n:
        v = total
        out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# wrong-result, tanh: Uses the approximation with tanh.
@cuda.jit
def with_tanh(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        v = total + bias[col]
        inner = float32(0.7978845608) * (v + float32(0.044715) * v * v * v)
        out[row, col] = HALF * v * (ONE + math.tanh(inner))


# wrong-result, no-root: Forgets that erf wants v / sqrt(2).
@cuda.jit
def erf_of_v(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        v = total + bias[col]
        out[row, col] = HALF * v * (ONE + math.erf(v))


# over-budget, over-budget: Writes the formula down as it stands in a book.
@cuda.jit
def as_in_a_book(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        v = total + bias[col]
        out[row, col] = v / 2 * (1 + math.erf(v / math.sqrt(2.0)))


# over-budget, over-budget: Stores the sum, and takes it up again for each further step.
@cuda.jit
def one_step_after_the_other(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total
        out[row, col] += bias[col]
        v = out[row, col]
        out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# over-budget, not-shared: The first thread of each row finishes the row.
@cuda.jit
def one_thread_finishes_a_row(out, a, w, bias, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        w_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        w_tile[y, x] = w[start + y, col] if w_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * w_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        a_tile[y, x] = total
    cuda.syncthreads()
    if row < m and x == 0:
        for i in range(min(TILE, n - col)):
            v = a_tile[y, i] + bias[col + i]
            out[row, col + i] = HALF * v * (ONE + math.erf(v * ROOT_HALF))
