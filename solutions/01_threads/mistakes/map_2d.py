"""Wrong answers to map_2d that learners give."""

from numba import cuda


# wrong-result, swapped-axes: Takes x for the first index because it is the first letter.
@cuda.jit
def row_from_x(out, a, rows, cols):
    row = cuda.threadIdx.x
    col = cuda.threadIdx.y
    if row < rows and col < cols:
        out[row, col] = 1 - a[row, col]


# hazard, out-of-bounds: Forgets that the block is larger than the picture.
@cuda.jit
def no_guard(out, a, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    out[row, col] = 1 - a[row, col]


# hazard, out-of-bounds: Guards the rows and forgets the columns.
@cuda.jit
def guard_in_one_axis(out, a, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows:
        out[row, col] = 1 - a[row, col]


# hazard, out-of-bounds: Lets a thread in that passes one of the two conditions.
@cuda.jit
def guard_with_or(out, a, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows or col < cols:
        out[row, col] = 1 - a[row, col]


# hazard, out-of-bounds: Compares each index with the other side.
@cuda.jit
def guard_with_swapped_sides(out, a, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < cols and col < rows:
        out[row, col] = 1 - a[row, col]


# hazard, out-of-bounds: Writes the indices as (x, y), as a drawing program would.
@cuda.jit
def column_before_row(out, a, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows and col < cols:
        out[col, row] = 1 - a[col, row]


# wrong-result, wrong-sign: Subtracts 1 from the picture.
@cuda.jit
def subtracted_the_wrong_way(out, a, rows, cols):
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    if row < rows and col < cols:
        out[row, col] = a[row, col] - 1


# over-budget, not-shared: A thread for each row, which goes along its columns.
@cuda.jit
def a_thread_for_each_row(out, a, rows, cols):
    row = cuda.threadIdx.y
    if row < rows and cuda.threadIdx.x == 0:
        for col in range(cols):
            out[row, col] = 1 - a[row, col]
