"""Wrong answers to no_float64 that learners give."""

import math

from numba import cuda, float32

EPS = 1e-5


# over-budget, over-budget: Mends the two sums, which are seen at once, and leaves the divisions.
@cuda.jit
def mends_the_sums_alone(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        mean = total / rows
        squares = float32(0)
        for row in range(rows):
            off = a[row, col] - mean
            squares += off * off
        scale = 1 / math.sqrt(squares / rows + EPS)
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale


# over-budget, over-budget: Converts the results, after they are computed in float64.
@cuda.jit
def converts_what_comes_out(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        mean = float32(total / rows)
        squares = float32(0)
        for row in range(rows):
            off = a[row, col] - mean
            squares += off * off
        scale = float32(1 / math.sqrt(squares / rows + EPS))
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale


# over-budget, over-budget: Finds all but the constant at the top of the file.
@cuda.jit
def leaves_the_constant(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        many = float32(rows)
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        mean = total / many
        squares = float32(0)
        for row in range(rows):
            off = a[row, col] - mean
            squares += off * off
        scale = float32(1) / math.sqrt(squares / many + EPS)
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale


# wrong-result, far-from-zero: Squares less the square of the mean, which takes one loop fewer.
@cuda.jit
def squares_in_one_pass(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        many = float32(rows)
        total = float32(0)
        squares = float32(0)
        for row in range(rows):
            total += a[row, col]
            squares += a[row, col] * a[row, col]
        mean = total / many
        spread = max(squares / many - mean * mean, float32(0))
        scale = float32(1) / math.sqrt(spread + float32(EPS))
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale


# wrong-result, no-eps: The constant is a float64, so out it goes.
@cuda.jit
def leaves_out_the_constant(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        many = float32(rows)
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        mean = total / many
        squares = float32(0)
        for row in range(rows):
            off = a[row, col] - mean
            squares += off * off
        scale = float32(1) / math.sqrt(squares / many)
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale


# wrong-result, whole-numbers: A // keeps the division out of float64, and rounds it down.
@cuda.jit
def divides_with_two_slashes(out, a, rows, cols):
    col = cuda.grid(1)
    if col < cols:
        many = float32(rows)
        total = float32(0)
        for row in range(rows):
            total += a[row, col]
        mean = total // many
        squares = float32(0)
        for row in range(rows):
            off = a[row, col] - mean
            squares += off * off
        scale = float32(1) / math.sqrt(squares / many + float32(EPS))
        for row in range(rows):
            out[row, col] = (a[row, col] - mean) * scale


# over-budget, not-shared: One thread has all the columns.
@cuda.jit
def one_thread_has_all_columns(out, a, rows, cols):
    if cuda.grid(1) == 0:
        many = float32(rows)
        for col in range(cols):
            total = float32(0)
            for row in range(rows):
                total += a[row, col]
            mean = total / many
            squares = float32(0)
            for row in range(rows):
                off = a[row, col] - mean
                squares += off * off
            scale = float32(1) / math.sqrt(squares / many + float32(EPS))
            for row in range(rows):
                out[row, col] = (a[row, col] - mean) * scale
