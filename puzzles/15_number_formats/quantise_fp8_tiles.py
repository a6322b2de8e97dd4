"""quantise_fp8_tiles: eight bits, and a scale for each tile.

    quantise_fp8_tiles(q, scale, a, rows, cols, tiles)

    q      uint8 (rows, cols)       to write: the bits of E4M3 numbers
    scale  float32 (rows, tiles)    to write
    a      float32 (rows, cols)     to read
    rows   int
    cols   int                      numbers in a row, at least 1
    tiles  int                      tiles in a row: cols / TILE, rounded
                                    up

A tile is TILE neighbouring numbers of one row; the last one of a row
may be shorter. The scale of a tile is its largest finite size, at least
FLOOR, divided by LARGEST in float32. So a tile of zeros has a scale
too, and no scale is 0.

q[r, c] is a[r, c] / scale, a division in float32, rounded to E4M3: 1
bit of sign, 4 of exponent, 3 of mantissa. A code with exponent field e
and mantissa field m stands for (8 + m) / 8 * 2**(e - 7), and for
m / 8 * 2**-6 where e is 0. Round to the nearest number, of two equally
near to the one with an even code. Zeros, and what rounds to 0, keep
their sign.
An infinity becomes the largest number, 448, with its sign. There is no
code for it: 0x7F is NaN, and is what every NaN becomes.

There is a warp for each tile, row after row, in blocks of TPB threads;
the last block may have warps without a tile. Each thread writes at most
four cells of q and one scale.
"""

import math

from numba import cuda, float32, uint8, uint32

TPB = 128
TILE = 128
KEPT = 4
LARGEST = 448.0
FLOOR = 1e-4
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def quantise_fp8_tiles(q, scale, a, rows, cols, tiles):
    warp = cuda.grid(1) // 32
    lane = cuda.laneid
    row = warp // tiles
    tile = warp % tiles
    # your code here (about 39 lines)
