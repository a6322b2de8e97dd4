"""Wrong answers to sum_columns that learners give."""

from numba import cuda, float32


# over-budget, over-budget: Starts each lane at a different row, so that the lanes are not in each
# other's way.
@cuda.jit
def a_different_row_for_each_lane(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = float32(0)
        for k in range(rows):
            total += a[(k + col) % rows, col]
        out[col] = total


# over-budget, over-budget: Spreads the lanes of a warp over far columns, so that each warp has a
# bit of everything.
@cuda.jit
def columns_dealt_out(out, a, rows, cols):
    x = cuda.threadIdx.x
    col = cuda.blockIdx.x * 64 + x % 8 * 8 + x // 8
    if col < cols:
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        out[col] = total


# hazard, out-of-bounds: Takes the column for the first index.
@cuda.jit
def indices_exchanged(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = float32(0)
        for row in range(rows):
            total += a[col, row]
        out[col] = total


# wrong-result, wrong: Adds up into out itself, which holds nothing yet.
@cuda.jit
def added_to_what_is_there(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        for row in range(rows):
            out[col] += a[row, col]


# hazard, out-of-bounds: Forgets that there are more threads than columns.
@cuda.jit
def no_guard(out, a, rows, cols):
    col = cuda.grid(1)
    total = float32(0)
    for row in range(rows):
        total += a[row, col]
    out[col] = total


# hazard, race: Takes the number in the block for the column.
@cuda.jit
def number_in_the_block(out, a, rows, cols):
    col = cuda.threadIdx.x
    if col < cols:
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        out[col] = total


# wrong-result, odd-row: Takes two rows at a time and forgets the one that is left over.
@cuda.jit
def the_odd_row_left_out(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = float32(0)
        for row in range(0, rows - 1, 2):
            total += a[row, col] + a[row + 1, col]
        out[col] = total


# wrong-result, first-twice: Starts with the first row and then begins the loop there again.
@cuda.jit
def the_first_row_twice(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = a[0, col]
        for row in range(rows):
            total += a[row, col]
        out[col] = total


# wrong-result, rows-summed: Adds up the row of its own number.
@cuda.jit
def a_row_for_each_thread(out, a, rows, cols):
    row = cuda.grid(1)
    if row < rows:
        total = float32(0)
        for col in range(cols):
            total += a[row, col]
        out[row] = total


# over-budget, not-shared: The first thread adds up every column.
@cuda.jit
def one_thread_for_all_columns(out, a, rows, cols):
    if cuda.grid(1) == 0:
        for col in range(cols):
            total = float32(0)
            for row in range(rows):
                total += a[row, col]
            out[col] = total
