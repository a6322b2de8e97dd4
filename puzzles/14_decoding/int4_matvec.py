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
# your code here (about 3 lines)


@cuda.jit
def int4_matvec(out, packed, scale, zero, x, rows, cols):
    # your code here (about 38 lines)
    pass
