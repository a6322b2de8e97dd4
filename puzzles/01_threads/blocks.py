"""blocks: more data than a block.

    blocks(out, a, size)

    out   float32 (size,)   to write: out[i] = a[i] * a[i]
    a     float32 (size,)   to read
    size  int               how many cells there are

The launch brings as many blocks as it takes to give every cell a
thread, and each thread writes at most one cell. All blocks are equally
large, so the last one may have threads to spare. a may hold NaN and
infinities as well.
"""

from numba import cuda


@cuda.jit
def blocks(out, a, size):
    # your code here (about 3 lines)
    pass
