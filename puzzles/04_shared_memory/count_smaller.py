"""count_smaller: how many numbers of its block are smaller.

    count_smaller(out, a)

    out   int32 (size,)     to write: how many numbers of the same block
                            are less than a[i]
    a     float32 (size,)   to read: block 0 has the first TPB numbers,
                            block 1 the next TPB, and so on

Blocks of TPB threads, exactly one thread for each cell: you need no
guard. Each thread writes at most one cell. Each number is loaded from
global memory once. a holds no NaN; it may hold infinities.
"""

from numba import cuda, float32

TPB = 64


@cuda.jit
def count_smaller(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    # your code here (about 7 lines)
