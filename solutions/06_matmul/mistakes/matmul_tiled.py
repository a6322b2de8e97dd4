"""Wrong answers to matmul_tiled that learners give."""

from numba import cuda, float32

TILE = 16


# hazard, race: Uses the tiles at once.
@cuda.jit
def no_barrier_before(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total


# hazard, race: Waits for the tiles, and fills them again while others still use them.
@cuda.jit
def no_barrier_behind(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
    if row < m and col < n:
        out[row, col] = total


# hazard, barrier-divergence: Sends the threads without a cell of out home first.
@cuda.jit
def barrier_behind_the_guard(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    if row < m and col < n:
        for start in range(0, k, TILE):
            a_here = row < m and start + x < k
            b_here = start + y < k and col < n
            a_tile[y, x] = a[row, start + x] if a_here else float32(0)
            b_tile[y, x] = b[start + y, col] if b_here else float32(0)
            cuda.syncthreads()
            for p in range(TILE):
                total += a_tile[y, p] * b_tile[p, x]
            cuda.syncthreads()
        out[row, col] = total


# hazard, uninitialised-read: Fills only the places that a matrix has a number for.
@cuda.jit
def no_zeros(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        if a_here:
            a_tile[y, x] = a[row, start + x]
        if b_here:
            b_tile[y, x] = b[start + y, col]
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total


# hazard, out-of-bounds: Guards the sides of out and forgets that p has an end, too.
@cuda.jit
def no_guard_along_p(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m
        b_here = col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total


# wrong-result, last-steps: Counts whole tiles and leaves the rest of k.
@cuda.jit
def whole_tiles_only(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k // TILE * TILE, TILE):
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total


# wrong-result, last-tile-only: Sets the sum to zero where the work on a tile begins.
@cuda.jit
def begins_at_zero_each_time(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    start = 0
    while start < k:
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        total = float32(0)
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
        start += TILE
    if row < m and col < n:
        out[row, col] = total


# over-budget, over-budget: Makes each sum straight from global memory.
@cuda.jit
def no_tile_at_all(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    total = float32(0)
    if row < m and col < n:
        for p in range(k):
            total += a[row, p] * b[p, col]
        out[row, col] = total


# over-budget, over-budget: Lays the tile of a down turned, as libraries do for other reasons.
@cuda.jit
def tile_of_a_turned(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        a_tile[x, y] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[p, y] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total


# over-budget, not-shared: Lets the first row of threads bring the tile of a.
@cuda.jit
def one_row_of_threads_brings_a(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, k, TILE):
        if y == 0:
            for i in range(TILE):
                inside = row + i < m and start + x < k
                a_tile[i, x] = a[row + i, start + x] if inside else float32(0)
        b_here = start + y < k and col < n
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total


# over-budget, over-budget: Begins the sum as a float64, and all products are added in float64.
@cuda.jit
def sums_in_float64(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = 0.0
    for start in range(0, k, TILE):
        a_here = row < m and start + x < k
        b_here = start + y < k and col < n
        a_tile[y, x] = a[row, start + x] if a_here else float32(0)
        b_tile[y, x] = b[start + y, col] if b_here else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            total += a_tile[y, p] * b_tile[p, x]
        cuda.syncthreads()
    if row < m and col < n:
        out[row, col] = total
