"""clip: keep it between two limits.

    clip(out, a, low, high, size)

    out        float32 (size,)   to write: a[i], but never below low and
                                 never above high
    a          float32 (size,)   to read
    low, high  float32           the limits, low < high
    size       int               how many cells there are

The launch brings as many blocks as it takes to give every cell a
thread, and each thread writes at most one cell. a holds no NaN; it may
hold infinities, and the limits are finite.
"""

from numba import cuda


@cuda.jit
def clip(out, a, low, high, size):
    # your code here (about 3 lines)
    pass
