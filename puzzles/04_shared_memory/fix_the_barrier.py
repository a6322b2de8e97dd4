"""fix_the_barrier: not every thread reaches these barriers.

    shift_right(out, a, size)       out[i] is the cell to the left of
                                    a[i] within the block's piece of TPB
                                    cells; the first cell of a piece
                                    becomes 0
    exchange_halves(out, a, size)   the lower half of the threads brings
                                    its cells as they are, the upper
                                    half with the sign flipped; then
                                    each thread takes the cell HALF
                                    places away. Places past the end of
                                    a count as 0
    reverse_chunks(out, a, cols)    a block has a row of any length and
                                    does it in chunks of TPB cells, each
                                    of them reversed; the last may be
                                    shorter

There is a barrier in each place where one is needed. What is wrong is
which threads reach it, and how often. Keep the results, and the work
shared as it is: of each chunk or piece, a thread writes at most one
cell. Let every thread of the block reach every barrier. a may hold NaN
and infinities as well.
"""

from numba import cuda, float32

TPB = 64
HALF = 32


@cuda.jit
def shift_right(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    # mend what follows
    if i < size:
        tile[t] = a[i]
        cuda.syncthreads()
        out[i] = tile[t - 1] if t > 0 else float32(0)


@cuda.jit
def exchange_halves(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    mine = a[i] if i < size else float32(0)
    # mend what follows
    if t < HALF:
        tile[t] = mine
        cuda.syncthreads()
        taken = tile[t + HALF]
    else:
        tile[t] = -mine
        cuda.syncthreads()
        taken = tile[t - HALF]
    if i < size:
        out[i] = taken


@cuda.jit
def reverse_chunks(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    # mend what follows
    for col in range(t, cols, TPB):
        length = min(TPB, cols - col + t)
        tile[t] = a[row, col]
        cuda.syncthreads()
        out[row, col] = tile[length - 1 - t]
        cuda.syncthreads()
