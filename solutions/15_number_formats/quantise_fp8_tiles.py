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
    # answer
    if row < rows:
        kept = cuda.local.array(KEPT, float32)
        for k in range(KEPT):
            col = tile * TILE + k * 32 + lane
            kept[k] = a[row, col] if col < cols else float32(0)
        largest = float32(FLOOR)
        for k in range(KEPT):
            size = abs(kept[k])
            # NaN is not below infinity either.
            if size < float32(math.inf):
                largest = max(largest, size)
        offset = 16
        while offset > 0:
            other = cuda.shfl_xor_sync(ALL_LANES, largest, offset)
            largest = max(largest, other)
            offset //= 2
        own = largest / float32(LARGEST)
        if lane == 0:
            scale[row, tile] = own
        for k in range(KEPT):
            col = tile * TILE + k * 32 + lane
            if col < cols:
                x = kept[k] / own
                bits = uint32(cuda.libdevice.float_as_int(x))
                sign = (bits >> uint32(24)) & uint32(0x80)
                size_bits = bits & uint32(0x7FFFFFFF)
                if size_bits > uint32(0x7F800000):
                    q[row, col] = uint8(0x7F)
                elif size_bits >= uint32(0x43E00000):
                    q[row, col] = uint8(sign | uint32(0x7E))
                elif size_bits < uint32(0x3C800000):
                    # Steps of 2**-9, as those of float32 at 2**14.
                    moved = abs(x) + float32(16384)
                    code = cuda.libdevice.float_as_int(moved)
                    code = uint32(code) & uint32(0x0F)
                    q[row, col] = uint8(sign | code)
                else:
                    odd = (size_bits >> uint32(20)) & uint32(1)
                    code = size_bits + uint32(0x7FFFF) + odd
                    code = (code >> uint32(20)) - uint32(960)
                    q[row, col] = uint8(sign | code)
    # end answer
