"""guard: more threads than data.

    guard(out, a, size)

    out   float32 (size,)   to write: out[i] = a[i] + 10
    a     float32 (size,)   to read
    size  int               how many cells there are

The launch is one block with at least `size` threads, often more. Each
thread writes at most one cell, and one without a cell must touch
nothing. a may hold NaN and infinities as well.
"""

from numba import cuda


@cuda.jit
def guard(out, a, size):
    i = cuda.threadIdx.x
    # your code here (about 2 lines)
