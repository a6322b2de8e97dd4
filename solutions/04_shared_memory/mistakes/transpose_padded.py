"""Wrong answers to transpose_padded that learners give."""

from numba import cuda, float32

TILE = 32
THREAD_ROWS = 8
PADDED = TILE + 1


# over-budget, over-budget: A square tile: a column of it lies in one bank.
@cuda.jit
def not_padded(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if top + y < rows and left + x < cols:
            tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if left + y < cols and top + x < rows:
            out[left + y, top + x] = tile[x, y]


# over-budget, over-budget: Adds a row to the tile, which moves no other row.
@cuda.jit
def padded_the_wrong_side(out, a, rows, cols):
    tile = cuda.shared.array((PADDED, TILE), float32)
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if top + y < rows and left + x < cols:
            tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if left + y < cols and top + x < rows:
            out[left + y, top + x] = tile[x, y]


# over-budget, over-budget: Turns the square round on the way in: now the stores meet in one bank.
@cuda.jit
def turned_on_the_way_in(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if top + y < rows and left + x < cols:
            tile[x, y] = a[top + y, left + x]
    cuda.syncthreads()
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if left + y < cols and top + x < rows:
            out[left + y, top + x] = tile[y, x]


# over-budget, over-budget: No tile, so no conflicts, and the stores are scattered again.
@cuda.jit
def no_tile_at_all(out, a, rows, cols):
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if top + y < rows and left + x < cols:
            out[left + x, top + y] = a[top + y, left + x]


# hazard, uninitialised-read: Each thread carries one cell and leaves three quarters of the square
# behind.
@cuda.jit
def one_cell_per_thread(out, a, rows, cols):
    tile = cuda.shared.array((TILE, PADDED), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if left + y < cols and top + x < rows:
        out[left + y, top + x] = tile[x, y]


# hazard, race: Forgets the barrier between filling and emptying.
@cuda.jit
def no_barrier(out, a, rows, cols):
    tile = cuda.shared.array((TILE, PADDED), float32)
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if top + y < rows and left + x < cols:
            tile[y, x] = a[top + y, left + x]
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if left + y < cols and top + x < rows:
            out[left + y, top + x] = tile[x, y]


# hazard, race: Fills and empties in one loop, a barrier in each turn: too early for the other
# rows.
@cuda.jit
def one_loop_for_both(out, a, rows, cols):
    tile = cuda.shared.array((TILE, PADDED), float32)
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        if top + y < rows and left + x < cols:
            tile[y, x] = a[top + y, left + x]
        cuda.syncthreads()
        if left + y < cols and top + x < rows:
            out[left + y, top + x] = tile[x, y]


# over-budget, not-shared: Half of the rows of threads carry eight cells each.
@cuda.jit
def half_of_the_threads(out, a, rows, cols):
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    tile = cuda.shared.array((TILE, PADDED), float32)
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS // 2):
        if cuda.threadIdx.y < THREAD_ROWS // 2 and top + y < rows and left + x < cols:
            tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    for y in range(cuda.threadIdx.y, TILE, THREAD_ROWS // 2):
        if cuda.threadIdx.y < THREAD_ROWS // 2 and left + y < cols and top + x < rows:
            out[left + y, top + x] = tile[x, y]
