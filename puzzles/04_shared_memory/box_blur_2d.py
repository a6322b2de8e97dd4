"""box_blur_2d: the mean of each cell's 3 by 3 neighbourhood.

    box_blur_2d(out, a, rows, cols)

    out   float32 (rows, cols)   to write: the mean of the nine cells
                                 from a[row - 1, col - 1] to
                                 a[row + 1, col + 1]; a cell outside
                                 the picture counts as 0
    a     float32 (rows, cols)   to read
    rows  int                    how many rows there are
    cols  int                    how many columns there are

A block is TILE_X threads wide and TILE_Y high, and each thread writes
at most one cell. Every cell that a block needs is loaded once. Its tile
has a frame one cell wide: SPAN_Y rows of SPAN_X cells, more than the
block has threads. Cell (row, col) of a block whose first cell is (top,
left) belongs at tile[row - top + 1, col - left + 1]. NaN and infinities
count as in any sum.
"""

from numba import cuda, float32

TILE_X = 16
TILE_Y = 8
SPAN_X = TILE_X + 2
SPAN_Y = TILE_Y + 2


@cuda.jit
def box_blur_2d(out, a, rows, cols):
    tile = cuda.shared.array((SPAN_Y, SPAN_X), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_X
    top = cuda.blockIdx.y * TILE_Y
    # your code here (about 12 lines)
