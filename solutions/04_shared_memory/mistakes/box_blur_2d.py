"""Wrong answers to box_blur_2d that learners give."""

from numba import cuda, float32

TILE_X = 16
TILE_Y = 8
SPAN_X = TILE_X + 2
SPAN_Y = TILE_Y + 2


# hazard, race: Adds up before the neighbours' cells are surely there.
@cuda.jit
def no_barrier(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        row = top - 1 + k // SPAN_X
        col = left - 1 + k % SPAN_X
        inside = 0 <= row < rows and 0 <= col < cols
        tile[k // SPAN_X, k % SPAN_X] = a[row, col] if inside else float32(0)
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[top + y, left + x] = total / 9


# hazard, barrier-divergence: Waits once per turn of a loop that not all threads turn equally
# often.
@cuda.jit
def barrier_in_the_loop(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        row = top - 1 + k // SPAN_X
        col = left - 1 + k % SPAN_X
        inside = 0 <= row < rows and 0 <= col < cols
        tile[k // SPAN_X, k % SPAN_X] = a[row, col] if inside else float32(0)
        cuda.syncthreads()
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[top + y, left + x] = total / 9


# hazard, uninitialised-read: Brings the four sides of the frame and forgets its corners.
@cuda.jit
def no_corners(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        down = k // SPAN_X
        right = k % SPAN_X
        row = top - 1 + down
        col = left - 1 + right
        inside = 0 <= row < rows and 0 <= col < cols
        if 0 < down < SPAN_Y - 1 or 0 < right < SPAN_X - 1:
            tile[down, right] = a[row, col] if inside else float32(0)
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[top + y, left + x] = total / 9


# hazard, uninitialised-read: One load per thread: the rest of the larger tile stays empty.
@cuda.jit
def one_load_per_thread(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    row = top + y
    col = left + x
    tile[y + 1, x + 1] = a[row, col] if row < rows and col < cols else float32(0)
    cuda.syncthreads()
    if row < rows and col < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[row, col] = total / 9


# hazard, out-of-bounds: A row of the tile is SPAN_X cells long, not as long as the block is wide.
@cuda.jit
def wrong_row_length(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        row = top - 1 + k // TILE_X
        col = left - 1 + k % TILE_X
        inside = 0 <= row < rows and 0 <= col < cols
        tile[k // TILE_X, k % TILE_X] = a[row, col] if inside else float32(0)
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[top + y, left + x] = total / 9


# hazard, out-of-bounds: Asks for x where the row of the tile is meant.
@cuda.jit
def swapped_in_the_tile(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        row = top - 1 + k // SPAN_X
        col = left - 1 + k % SPAN_X
        inside = 0 <= row < rows and 0 <= col < cols
        tile[k // SPAN_X, k % SPAN_X] = a[row, col] if inside else float32(0)
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[x + right, y + down]
        out[top + y, left + x] = total / 9


# wrong-result, border-repeated: Repeats the border cells where nothing should be.
@cuda.jit
def repeated_the_border(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        row = min(max(top - 1 + k // SPAN_X, 0), rows - 1)
        col = min(max(left - 1 + k % SPAN_X, 0), cols - 1)
        tile[k // SPAN_X, k % SPAN_X] = a[row, col]
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[top + y, left + x] = total / 9


# over-budget, over-budget: Nine loads from global memory for every cell.
@cuda.jit
def no_tile_at_all(out, a, rows, cols):
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        total = float32(0)
        for r in range(max(row - 1, 0), min(row + 2, rows)):
            for c in range(max(col - 1, 0), min(col + 2, cols)):
                total += a[r, c]
        out[row, col] = total / 9


# wrong-result, mean-of-inside: Divides by the neighbours that exist.
@cuda.jit
def mean_of_those_inside(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    for k in range(y * TILE_X + x, SPAN_Y * SPAN_X, TILE_Y * TILE_X):
        row = top - 1 + k // SPAN_X
        col = left - 1 + k % SPAN_X
        inside = 0 <= row < rows and 0 <= col < cols
        tile[k // SPAN_X, k % SPAN_X] = a[row, col] if inside else float32(0)
    cuda.syncthreads()
    row = top + y
    col = left + x
    if row < rows and col < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        high = min(row + 2, rows) - max(row - 1, 0)
        wide = min(col + 2, cols) - max(col - 1, 0)
        out[row, col] = total / (high * wide)


# over-budget, not-shared: The first row of threads fills the tile, place by place.
@cuda.jit
def one_row_of_threads_fills_the_tile(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    if y == 0:
        for k in range(x, SPAN_Y * SPAN_X, TILE_X):
            row = top - 1 + k // SPAN_X
            col = left - 1 + k % SPAN_X
            inside = 0 <= row < rows and 0 <= col < cols
            tile[k // SPAN_X, k % SPAN_X] = a[row, col] if inside else float32(0)
    cuda.syncthreads()
    if top + y < rows and left + x < cols:
        total = float32(0)
        for down in range(3):
            for right in range(3):
                total += tile[y + down, x + right]
        out[top + y, left + x] = total / 9
