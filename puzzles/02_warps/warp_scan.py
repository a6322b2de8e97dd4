"""warp_scan: running sums, begun anew in each warp.

    warp_scan(out, a, size)

    out   float32 (size,)   to write: out[i] is the sum of the numbers
                            from the first one of the warp up to a[i],
                            which is included
    a     float32 (size,)   to read
    size  int               how many numbers there are

Blocks of TPB threads, enough of them for all numbers. Each thread loads
one number, and each thread writes at most one cell. The numbers meet by
five shuffles for each warp, and not by way of memory. NaN and
infinities count as in any sum.
"""

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF  # a mask that names all 32 lanes


@cuda.jit
def warp_scan(out, a, size):
    i = cuda.grid(1)
    # your code here (about 7 lines)
