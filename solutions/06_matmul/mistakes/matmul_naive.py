"""Wrong answers to matmul_naive that learners give."""

from numba import cuda, float32


# hazard, out-of-bounds: Takes it that there is a cell for every thread.
@cuda.jit
def no_guard(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    total = float32(0)
    for p in range(k):
        total += a[row, p] * b[p, col]
    out[row, col] = total


# wrong-result, last-product: Assigns where it should add.
@cuda.jit
def replaces_the_sum(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for p in range(k):
            total = a[row, p] * b[p, col]
        out[row, col] = total


# wrong-result, first-missing: Counts from one, as the formula in a book does.
@cuda.jit
def begins_at_one(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for p in range(1, k):
            total += a[row, p] * b[p, col]
        out[row, col] = total


# wrong-result, last-missing: Ends at k - 1, as the last index does.
@cuda.jit
def ends_before_the_last(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        p = 0
        while p < k - 1:
            total += a[row, p] * b[p, col]
            p += 1
        out[row, col] = total


# over-budget, over-budget: Rows come first in a matrix, so they get the first coordinate.
@cuda.jit
def x_down_the_rows(out, a, b, m, n, k):
    row, col = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for p in range(k):
            total += a[row, p] * b[p, col]
        out[row, col] = total


# over-budget, over-budget: Adds every product to the cell of out itself.
@cuda.jit
def sums_in_global_memory(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    if row < m and col < n:
        out[row, col] = float32(0)
        for p in range(k):
            out[row, col] += a[row, p] * b[p, col]


# over-budget, over-budget: Begins the sum with 0.0, which is a float64.
@cuda.jit
def sum_in_float64(out, a, b, m, n, k):
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = 0.0
        for p in range(k):
            total += a[row, p] * b[p, col]
        out[row, col] = total


# over-budget, not-shared: The first thread of each row makes the whole row.
@cuda.jit
def one_thread_for_a_row(out, a, b, m, n, k):
    first, row = cuda.grid(2)
    if row < m and first == 0:
        for col in range(n):
            total = float32(0)
            for p in range(k):
                total += a[row, p] * b[p, col]
            out[row, col] = total
