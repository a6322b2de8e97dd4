"""Wrong answers to keep_it_in_registers that learners give."""

from numba import cuda, float32

ROWS = 32


# over-budget, over-budget: A fixed loop to load with, and one over the rows that there are to
# store.
@cuda.jit
def unrolls_one_loop_of_two(out, a, rows, cols):
    col = cuda.grid(1)
    kept = cuda.local.array(ROWS, float32)
    if col < cols:
        total = float32(0)
        for row in range(ROWS):
            if row < rows:
                kept[row] = a[row, col]
                total += kept[row]
        mean = total / float32(rows)
        for row in range(rows):
            out[row, col] = kept[row] - mean


# over-budget, over-budget: There are never more than ROWS, so the compiler can tell how many.
@cuda.jit
def takes_the_smaller_of_both(out, a, rows, cols):
    col = cuda.grid(1)
    kept = cuda.local.array(ROWS, float32)
    if col < cols:
        total = float32(0)
        for row in range(min(rows, ROWS)):
            kept[row] = a[row, col]
            total += kept[row]
        mean = total / float32(rows)
        for row in range(min(rows, ROWS)):
            out[row, col] = kept[row] - mean


# over-budget, over-budget: Fills the array from its end, so that it ends at a fixed place.
@cuda.jit
def counts_from_the_other_end(out, a, rows, cols):
    col = cuda.grid(1)
    kept = cuda.local.array(ROWS, float32)
    if col < cols:
        total = float32(0)
        for row in range(ROWS):
            if row < rows:
                kept[rows - 1 - row] = a[row, col]
                total += kept[rows - 1 - row]
        mean = total / float32(rows)
        for row in range(ROWS):
            if row < rows:
                out[row, col] = kept[rows - 1 - row] - mean


# over-budget, over-budget: Without the array nothing is in local memory, and all is loaded twice.
@cuda.jit
def loads_twice(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        mean = total / float32(rows)
        for row in range(rows):
            out[row, col] = a[row, col] - mean


# over-budget, over-budget: A tile for the whole block is no local memory either.
@cuda.jit
def keeps_it_in_a_tile(out, a, rows, cols):
    tile = cuda.shared.array((ROWS, 64), float32)
    col = cuda.grid(1)
    t = cuda.threadIdx.x
    if col < cols:
        total = float32(0)
        for row in range(rows):
            tile[row, t] = a[row, col]
            total += tile[row, t]
        mean = total / float32(rows)
        for row in range(rows):
            out[row, col] = tile[row, t] - mean


# hazard, out-of-bounds: Loops to ROWS, which makes each index known, and guards nothing.
@cuda.jit
def no_guard_for_the_rows(out, a, rows, cols):
    col = cuda.grid(1)
    kept = cuda.local.array(ROWS, float32)
    if col < cols:
        total = float32(0)
        for row in range(ROWS):
            kept[row] = a[row, col]
            total += kept[row]
        mean = total / float32(rows)
        for row in range(ROWS):
            out[row, col] = kept[row] - mean


# hazard, uninitialised-read: Guards the load, and adds up all the places.
@cuda.jit
def adds_places_that_are_empty(out, a, rows, cols):
    col = cuda.grid(1)
    kept = cuda.local.array(ROWS, float32)
    if col < cols:
        total = float32(0)
        for row in range(ROWS):
            if row < rows:
                kept[row] = a[row, col]
        for row in range(ROWS):
            total += kept[row]
        mean = total / float32(rows)
        for row in range(ROWS):
            if row < rows:
                out[row, col] = kept[row] - mean


# wrong-result, mean: The array has ROWS places, so the sum is divided by ROWS.
@cuda.jit
def divides_by_the_places(out, a, rows, cols):
    col = cuda.grid(1)
    kept = cuda.local.array(ROWS, float32)
    if col < cols:
        total = float32(0)
        for row in range(ROWS):
            if row < rows:
                kept[row] = a[row, col]
                total += kept[row]
        mean = total / float32(ROWS)
        for row in range(ROWS):
            if row < rows:
                out[row, col] = kept[row] - mean


# over-budget, not-shared: One thread has all the columns.
@cuda.jit
def one_thread_has_all_columns(out, a, rows, cols):
    kept = cuda.local.array(ROWS, float32)
    if cuda.grid(1) == 0:
        for col in range(cols):
            total = float32(0)
            for row in range(ROWS):
                if row < rows:
                    kept[row] = a[row, col]
                    total += kept[row]
            mean = total / float32(rows)
            for row in range(ROWS):
                if row < rows:
                    out[row, col] = kept[row] - mean
