"""Wrong answers to transpose_naive that learners give."""

from numba import cuda

TILE = 32
THREAD_ROWS = 8
PER_THREAD = 4


# over-budget, over-budget: Along the diagonals, so that no column is favoured: neither side is in
# order.
@cuda.jit
def along_the_diagonals(out, a, rows, cols):
    x = cuda.threadIdx.x
    for k in range(cuda.threadIdx.y, TILE, THREAD_ROWS):
        row = cuda.blockIdx.y * TILE + (x + k) % TILE
        col = cuda.blockIdx.x * TILE + x
        if row < rows and col < cols:
            out[col, row] = a[row, col]


# wrong-result, transposed: Copies and exchanges nothing.
@cuda.jit
def not_transposed(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for k in range(PER_THREAD):
        row = top + k * THREAD_ROWS
        if row < rows and col < cols:
            number = row * cols + col
            out[number // rows, number % rows] = a[row, col]


# hazard, out-of-bounds: Writes with the indices it read with.
@cuda.jit
def indices_not_exchanged(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for k in range(PER_THREAD):
        row = top + k * THREAD_ROWS
        if row < rows and col < cols:
            out[row, col] = a[row, col]


# wrong-result, one-each: One cell for each thread: three quarters of the square stay behind.
@cuda.jit
def one_cell_for_each_thread(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    if row < rows and col < cols:
        out[col, row] = a[row, col]


# hazard, race: Four rows below each other, though the next thread has the next row: they meet.
@cuda.jit
def steps_of_one_row(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for k in range(PER_THREAD):
        row = top + k
        if row < rows and col < cols:
            out[col, row] = a[row, col]


# hazard, out-of-bounds: Guards the first of its four rows alone.
@cuda.jit
def guards_the_first_row_alone(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    if top < rows and col < cols:
        for k in range(PER_THREAD):
            out[col, top + k * THREAD_ROWS] = a[top + k * THREAD_ROWS, col]


# wrong-result, tail-unwritten: Guards rows with cols and cols with rows.
@cuda.jit
def guards_exchanged(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    top = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for k in range(PER_THREAD):
        row = top + k * THREAD_ROWS
        if row < cols and col < rows:
            out[col, row] = a[row, col]


# over-budget, not-shared: One warp of the block carries the whole square.
@cuda.jit
def one_warp_carries_the_square(out, a, rows, cols):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    if cuda.threadIdx.y == 0:
        for k in range(TILE):
            row = cuda.blockIdx.y * TILE + k
            if row < rows and col < cols:
                out[col, row] = a[row, col]
