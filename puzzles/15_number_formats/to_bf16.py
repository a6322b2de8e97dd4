"""to_bf16: sixteen bits of thirty-two, rounded to nearest even.

    to_bf16(out, bits, size)

    out   uint16 (size,)   to write: the bits of the bfloat16 number
                           that is nearest to number i
    bits  uint32 (size,)   to read: the bits of float32 numbers
    size  int              how many there are

A bfloat16 is the upper half of a float32: sign, 8 bits of exponent, 7
of mantissa. Of two bfloat16 numbers that are equally near, take the one
whose last bit is 0. What is rounded past the largest one becomes
infinity; infinities stay what they are, zeros keep their sign, and
numbers below the normal ones are rounded as all others are. Every NaN
becomes 0x7FC0, whatever its sign and the rest of its bits.

There are blocks of TPB threads and at least one thread for each cell;
each thread writes at most one cell.
"""

from numba import cuda, uint16, uint32

TPB = 128


@cuda.jit
def to_bf16(out, bits, size):
    i = cuda.grid(1)
    # your code here (about 7 lines)
