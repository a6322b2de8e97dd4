"""int4_matvec: eight weights from each word, each word once.

    int4_matvec(out, packed, scale, zero, x, rows, cols)

    out     float32 (rows,)                to write
    packed  uint32 (rows, cols // 8)       to read: eight weights a word
    scale   float32 (rows, cols // GROUP)  to read
    zero    uint8 (rows, cols // GROUP)    to read
    x       float32 (cols,)                to read
    rows    int                            how many rows there are
    cols    int                            how many columns there are, a
                                           multiple of GROUP

Word w of a row has the weights of columns 8 * w to 8 * w + 7: column
8 * w + k in bits 4 * k to 4 * k + 3, as a number n from 0 to 15. GROUP
columns in a row share a scale and a zero, and the weight is

    (n - zero[row, col // GROUP]) * scale[row, col // GROUP]

out is the product of the matrix of all weights and x. Each block has
WARPS * ROWS rows, and each warp ROWS of them, one after the other. Each
thread writes at most ROWS cells. Each word of packed comes from memory
once, a word for each lane, and x once for the block. The weights exist
in registers alone. All arithmetic is float32. x may hold NaN and
infinities: the formula says what becomes of them. scale is finite.
"""

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
ROWS = 4
GROUP = 32
# answer
WORDS = 32
WIDE = 36
ALL_LANES = 0xFFFFFFFF
# end answer


@cuda.jit
def int4_matvec(out, packed, scale, zero, x, rows, cols):
    # answer
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total
    # end answer
