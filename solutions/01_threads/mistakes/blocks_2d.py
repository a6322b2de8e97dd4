"""Wrong answers to blocks_2d that learners give."""

from numba import cuda


# wrong-result, swapped-axes: Unpacks cuda.grid(2) in the order of the array's indices.
@cuda.jit
def row_from_x(out, a, bias, rows, cols):
    row, col = cuda.grid(2)
    if row < rows and col < cols:
        out[row, col] = a[row, col] + bias[col]


# hazard, race: Remembers the block along x and forgets it along y.
@cuda.jit
def thread_number_without_block_in_y(out, a, bias, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[row, col] + bias[col]


# wrong-result, missing-rows: Copies the line for x and changes two of its three letters.
@cuda.jit
def block_width_for_block_height(out, a, bias, rows, cols):
    row = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[row, col] + bias[col]


# hazard, out-of-bounds: Guards the right edge and forgets the bottom.
@cuda.jit
def guard_in_one_axis(out, a, bias, rows, cols):
    col, row = cuda.grid(2)
    if col < cols:
        out[row, col] = a[row, col] + bias[col]


# wrong-result, bias-by-row: Gives each example a bias in place of each feature.
@cuda.jit
def bias_of_the_row(out, a, bias, rows, cols):
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        out[row, col] = a[row, col] + bias[row]


# over-budget, not-shared: The first thread of every block does the block's cells.
@cuda.jit
def one_thread_of_each_block(out, a, bias, rows, cols):
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        col, row = cuda.grid(2)
        for r in range(row, min(row + cuda.blockDim.y, rows)):
            for c in range(col, min(col + cuda.blockDim.x, cols)):
                out[r, c] = a[r, c] + bias[c]
