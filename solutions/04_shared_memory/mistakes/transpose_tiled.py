"""Wrong answers to transpose_tiled that learners give."""

from numba import cuda, float32

TILE = 32


# over-budget, over-budget: Right, and every store of a warp goes to 32 rows.
@cuda.jit
def no_tile_at_all(out, a, rows, cols):
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        out[col, row] = a[row, col]


# over-budget, over-budget: Uses the tile and still writes down the columns.
@cuda.jit
def stored_down_the_columns(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        out[left + x, top + y] = tile[y, x]


# over-budget, over-budget: Loads down the columns and stores along the rows.
@cuda.jit
def loaded_down_the_columns(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + x < rows and left + y < cols:
        tile[y, x] = a[top + x, left + y]
    cuda.syncthreads()
    if top + x < rows and left + y < cols:
        out[left + y, top + x] = tile[y, x]


# hazard, race: Takes from the tile what another thread may not have brought yet.
@cuda.jit
def no_barrier(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
    if left + y < cols and top + x < rows:
        out[left + y, top + x] = tile[x, y]


# hazard, barrier-divergence: One guard for all, and the barrier inside it.
@cuda.jit
def barrier_behind_the_guard(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
        cuda.syncthreads()
    if left + y < cols and top + x < rows:
        out[left + y, top + x] = tile[x, y]


# wrong-result, not-turned: Puts the squares in their new places and leaves each as it was.
@cuda.jit
def squares_not_turned(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if left + y < cols and top + x < rows:
        out[left + y, top + x] = tile[y, x]


# wrong-result, not-moved: Turns each square round and leaves the squares in their places.
@cuda.jit
def squares_not_moved(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if top + y < cols and left + x < rows:
        out[top + y, left + x] = tile[x, y]


# hazard, out-of-bounds: Guards the store like the load: the threads left over are not the same.
@cuda.jit
def guard_of_the_load(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + y < rows and left + x < cols:
        tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        out[left + y, top + x] = tile[x, y]


# over-budget, not-shared: One warp carries the whole square, a row after the other.
@cuda.jit
def one_warp_does_it_all(out, a, rows, cols):
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if cuda.threadIdx.y == 0:
        for y in range(TILE):
            if top + y < rows and left + x < cols:
                tile[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    if cuda.threadIdx.y == 0:
        for y in range(TILE):
            if left + y < cols and top + x < rows:
                out[left + y, top + x] = tile[x, y]
