"""warp_and_lane: which warp a thread is in, and which lane it is.

    warp_and_lane(warp, lane, size)

    warp  int32 (size,)   to write: the warp of the thread that has
                          this cell; each block counts its warps from 0
    lane  int32 (size,)   to write: the lane of that thread, 0 to 31
    size  int             how many cells there are

Blocks of TPB threads, enough of them for all cells: thread i of the
grid has cell i. Each thread writes at most one cell of each array.
"""

from numba import cuda

TPB = 40


@cuda.jit
def warp_and_lane(warp, lane, size):
    i = cuda.grid(1)
    # your code here (about 4 lines)
