"""fix_the_race: three kernels that look right, and race.

    rotate_pieces(out, a, size)           out[i] is the cell to the
                                          right of a[i] within the
                                          block's piece of TPB cells;
                                          the last cell of a piece gets
                                          its first
    reverse_rows(out, a, rows, cols)      every row back to front; a
                                          block does one row after
                                          another, all in the same tile;
                                          cols is at most TPB
    add_neighbours(out, a, size, rounds)  `rounds` times over, every
                                          cell of a piece has its left
                                          neighbour added to it, all
                                          cells at once; the first cell
                                          of a piece has none

In many runs they even give the right numbers. Each of them has too few
barriers, and each lacks one in a different kind of place. Add as few as
will do, and change nothing more. The work stays shared as it is: of
each row or piece, a thread writes at most one cell. a may hold NaN and
infinities as well.
"""

from numba import cuda, float32

TPB = 64


@cuda.jit
def rotate_pieces(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    # mend what follows
    if i < size:
        tile[t] = a[i]
        out[i] = tile[(t + 1) % length]


@cuda.jit
def reverse_rows(out, a, rows, cols):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    # mend what follows
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        if t < cols:
            tile[t] = a[row, t]
        cuda.syncthreads()
        if t < cols:
            out[row, t] = tile[cols - 1 - t]


@cuda.jit
def add_neighbours(out, a, size, rounds):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    # mend what follows
    for _ in range(rounds):
        if t > 0:
            tile[t] += tile[t - 1]
        cuda.syncthreads()
    if i < size:
        out[i] = tile[t]
