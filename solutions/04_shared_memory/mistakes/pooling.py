"""Wrong answers to pooling that learners give."""

from numba import cuda, float32

TPB = 64
WINDOW = 4


# hazard, race: Compares with numbers that other threads may not have brought yet.
@cuda.jit
def no_barrier(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
        largest = tile[col]
        for back in range(1, min(WINDOW, col + 1)):
            largest = max(largest, tile[col - back])
        out[row, col] = largest


# hazard, barrier-divergence: Puts everything behind one guard, the barrier too.
@cuda.jit
def barrier_behind_the_guard(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
        cuda.syncthreads()
        largest = tile[col]
        for back in range(1, min(WINDOW, col + 1)):
            largest = max(largest, tile[col - back])
        out[row, col] = largest


# over-budget, over-budget: Fills the tile, then reads global memory all the same.
@cuda.jit
def read_global_again(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        largest = tile[col]
        for back in range(1, min(WINDOW, col + 1)):
            largest = max(largest, a[row, col - back])
        out[row, col] = largest


# wrong-result, began-at-zero: Begins at zero, which no negative number beats.
@cuda.jit
def began_at_zero(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        largest = float32(0)
        for back in range(min(WINDOW, col + 1)):
            largest = max(largest, tile[col - back])
        out[row, col] = largest


# wrong-result, began-too-high: Begins at a number that looks small enough.
@cuda.jit
def began_at_minus_100(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        largest = float32(-100)
        for back in range(min(WINDOW, col + 1)):
            largest = max(largest, tile[col - back])
        out[row, col] = largest


# hazard, out-of-bounds: Lets the window stick out at the left of the row.
@cuda.jit
def window_past_the_start(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        largest = tile[col]
        for back in range(1, WINDOW):
            largest = max(largest, tile[col - back])
        out[row, col] = largest


# wrong-result, looked-ahead: Takes the numbers that come, not those that went.
@cuda.jit
def looked_ahead(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        largest = tile[col]
        for ahead in range(1, min(WINDOW, cols - col)):
            largest = max(largest, tile[col + ahead])
        out[row, col] = largest


# wrong-result, window-short: Stops one number early.
@cuda.jit
def window_one_short(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        largest = tile[col]
        for back in range(1, min(WINDOW - 1, col + 1)):
            largest = max(largest, tile[col - back])
        out[row, col] = largest


# wrong-result, summed: Adds where it should compare.
@cuda.jit
def summed(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    col = cuda.threadIdx.x
    if col < cols:
        tile[col] = a[row, col]
    cuda.syncthreads()
    if col < cols:
        total = tile[col]
        for back in range(1, min(WINDOW, col + 1)):
            total += tile[col - back]
        out[row, col] = total


# over-budget, not-shared: One thread does the row, with the last four numbers in its own
# variables.
@cuda.jit
def one_thread_of_each_block(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        for col in range(cols):
            tile[col] = a[row, col]
            largest = tile[col]
            for back in range(1, min(WINDOW, col + 1)):
                largest = max(largest, tile[col - back])
            out[row, col] = largest
