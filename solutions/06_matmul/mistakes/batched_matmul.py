"""Wrong answers to batched_matmul that learners give."""

from numba import cuda, float32

TILE = 16
PADDED = TILE + 1


# hazard, race: Uses the tiles at once.
@cuda.jit
def no_barrier_before(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# hazard, race: Fills the tiles again while others still use them.
@cuda.jit
def no_barrier_behind(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# hazard, barrier-divergence: Sends the threads without a score home first.
@cuda.jit
def barrier_behind_the_guard(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    if top + y < m and left + x < n:
        for start in range(0, k, TILE):
            p = start + x
            row = top + y
            q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
            row = left + y
            here = row < n and p < k
            key_tile[y, x] = keys[z, row, p] if here else float32(0)
            cuda.syncthreads()
            for i in range(TILE):
                total += q_tile[y, i] * key_tile[x, i]
            cuda.syncthreads()
        out[z, top + y, left + x] = total


# hazard, uninitialised-read: Fills only the places that a matrix has a number for.
@cuda.jit
def no_zeros(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        if row < m and p < k:
            q_tile[y, x] = q[z, row, p]
        row = left + y
        if row < n and p < k:
            key_tile[y, x] = keys[z, row, p]
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# hazard, out-of-bounds: Takes the keys as if they stood in columns.
@cuda.jit
def keys_not_turned(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        key_tile[y, x] = keys[z, start + y, left + x]
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[i, x]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# wrong-result, first-head: Takes the keys of the first head for all.
@cuda.jit
def keys_of_the_first_head(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[0, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# wrong-result, last-steps: Counts whole tiles and leaves the rest of k.
@cuda.jit
def whole_tiles_only(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k // TILE * TILE, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# over-budget, over-budget: A square tile for the keys: lanes read down a column.
@cuda.jit
def not_padded(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, TILE), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# over-budget, over-budget: Turns the keys while loading them, and pays in sectors.
@cuda.jit
def turned_while_loading(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + x
        p = start + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[i, x]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# over-budget, over-budget: Makes each score straight from global memory.
@cuda.jit
def no_tile_at_all(out, q, keys, m, n, k):
    col, row, z = cuda.grid(3)
    if row < m and col < n:
        total = float32(0)
        for p in range(k):
            total += q[z, row, p] * keys[z, col, p]
        out[z, row, col] = total


# over-budget, not-shared: Lets the first row of threads bring the tile of queries.
@cuda.jit
def one_row_of_threads_brings_q(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = float32(0)
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        if y == 0:
            for i in range(TILE):
                here = top + i < m and p < k
                q_tile[i, x] = q[z, top + i, p] if here else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total


# over-budget, over-budget: Begins the sum as a float64, and all products are added in float64.
@cuda.jit
def sums_in_float64(out, q, keys, m, n, k):
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.blockIdx.z
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    total = 0.0
    q_tile = cuda.shared.array((TILE, TILE), float32)
    key_tile = cuda.shared.array((TILE, PADDED), float32)
    for start in range(0, k, TILE):
        p = start + x
        row = top + y
        q_tile[y, x] = q[z, row, p] if row < m and p < k else float32(0)
        row = left + y
        here = row < n and p < k
        key_tile[y, x] = keys[z, row, p] if here else float32(0)
        cuda.syncthreads()
        for i in range(TILE):
            total += q_tile[y, i] * key_tile[x, i]
        cuda.syncthreads()
    if top + y < m and left + x < n:
        out[z, top + y, left + x] = total
