"""stencil_halo: each cell and its two neighbours, across the borders of
blocks.

    stencil_halo(out, a, size)

    out   float32 (size,)   to write: a[i - 1] - 2 * a[i] + a[i + 1],
                            where a neighbour that does not exist
                            counts as 0
    a     float32 (size,)   to read
    size  int               how many cells there are

Each thread writes at most one cell, and every cell that a block needs
is loaded once. The tile has one more place at each side, for the cells
of the neighbouring blocks: the halo. Cell start + t of the array
belongs at tile[t + 1]. NaN and infinities count as in any sum.
"""

from numba import cuda, float32

TPB = 64
SPAN = TPB + 2


@cuda.jit
def stencil_halo(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    # answer
    for k in range(t, SPAN, TPB):
        cell = start - 1 + k
        tile[k] = a[cell] if 0 <= cell < size else float32(0)
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - float32(2) * tile[t + 1] + tile[t + 2]
    # end answer
