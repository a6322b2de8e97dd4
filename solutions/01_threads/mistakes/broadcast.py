"""Wrong answers to broadcast that learners give."""

from numba import cuda


# hazard, out-of-bounds: Expects the kernel to stretch a and b as NumPy does.
@cuda.jit
def indexed_like_out(out, a, b, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[row, col] + b[row, col]


# hazard, out-of-bounds: Runs down the row and along the column.
@cuda.jit
def column_and_row_exchanged(out, a, b, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[col, 0] + b[0, row]


# hazard, out-of-bounds: Forgets that the block also sticks out on the right.
@cuda.jit
def guard_for_rows_only(out, a, b, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows:
        out[row, col] = a[row, 0] + b[0, col]


# wrong-result, rows-alike: Reads the top of the column for every row.
@cuda.jit
def column_read_once(out, a, b, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[0, 0] + b[0, col]


# wrong-result, multiplied: Writes the multiplication table.
@cuda.jit
def product_instead_of_sum(out, a, b, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[row, 0] * b[0, col]


# wrong-result, swapped-axes: Takes x for the first index because it is the first letter.
@cuda.jit
def row_from_x(out, a, b, rows, cols):
    row = cuda.threadIdx.x
    col = cuda.threadIdx.y
    if row < rows and col < cols:
        out[row, col] = a[row, 0] + b[0, col]


# over-budget, not-shared: A thread for each column, which goes down its rows.
@cuda.jit
def a_thread_for_each_column(out, a, b, rows, cols):
    col = cuda.threadIdx.x
    if col < cols and cuda.threadIdx.y == 0:
        for row in range(rows):
            out[row, col] = a[row, 0] + b[0, col]
