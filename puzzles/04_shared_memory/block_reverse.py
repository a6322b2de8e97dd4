"""block_reverse: every block reverses its own piece of the array.

    block_reverse(out, a, size)

    out   float32 (size,)   to write: block 0 has cells 0 to 63, block 1
                            the next 64, and so on; within each block's
                            piece the numbers stand in reverse order
    a     float32 (size,)   to read
    size  int               how many cells there are

A block has TPB threads and a tile of TPB cells. Each thread brings one
cell into the tile; when all have done so, each takes one out, so that
each thread writes at most one cell. The last piece may be shorter than
the others: it is reversed as it is. Neighbouring threads touch
neighbouring cells of global memory, in loads and in stores. a may hold
NaN and infinities as well.
"""

from numba import cuda, float32

TPB = 64


@cuda.jit
def block_reverse(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    # your code here (about 7 lines)
