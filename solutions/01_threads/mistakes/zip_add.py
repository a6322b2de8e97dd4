"""Wrong answers to zip_add that learners give."""

from numba import cuda


# wrong-result, one-array-twice: Reads a where b was meant.
@cuda.jit
def same_array_twice(out, a, b):
    i = cuda.threadIdx.x
    out[i] = a[i] + a[i]


# wrong-result, one-array-only: Leaves b out.
@cuda.jit
def forgot_b(out, a, b):
    i = cuda.threadIdx.x
    out[i] = a[i]


# wrong-result, one-array-only: Leaves a out.
@cuda.jit
def forgot_a(out, a, b):
    i = cuda.threadIdx.x
    out[i] = b[i]


# hazard, race: Asks for the number of the block, which is 0 for all.
@cuda.jit
def block_number_as_index(out, a, b):
    i = cuda.blockIdx.x
    out[i] = a[i] + b[i]


# input-changed, input-changed: Uses a as the place for the sum.
@cuda.jit
def summed_into_the_input(out, a, b):
    i = cuda.threadIdx.x
    a[i] += b[i]


# hazard, out-of-bounds: Pairs each cell with its neighbour.
@cuda.jit
def b_shifted_by_one(out, a, b):
    i = cuda.threadIdx.x
    out[i] = a[i] + b[i + 1]


# over-budget, not-shared: Two cells for each thread of the first half; the second half does
# nothing.
@cuda.jit
def half_of_the_threads(out, a, b):
    i = 2 * cuda.threadIdx.x
    for k in range(i, min(i + 2, len(a))):
        out[k] = a[k] + b[k]
