"""dropout: a mask that nobody stores.

    dropout(out, x, size, quarter, least, scale, key0, key1)

    out      float32 (size,)   to write: x[i] * scale where cell i is
                               kept, and 0 where it is dropped
    x        float32 (size,)   to read
    size     int               how many cells there are
    quarter  int               a quarter of size, rounded up
    least    uint32            a cell is kept whose word is least or
                               more
    scale    float32           what makes up for what is dropped
    key0     uint32            the key, which is the seed
    key1     uint32

Cell i has word i // quarter of the four that Philox4x32-10 makes of the
counter (i % quarter, 0, 0, 0). There is a thread for each counter, in
blocks of TPB threads. Each thread writes at most four cells, which lie
quarter apart, so no word is made twice.

Philox has ten rounds. A round takes the counter (c0, c1, c2, c3), two
products of 64 bits,

    PHILOX_A * c0 = (upper a, lower a)
    PHILOX_B * c2 = (upper b, lower b)

and makes of it (upper b ^ c1 ^ key0, lower b, upper a ^ c3 ^ key1,
lower a). Before each round but the first, BUMP_0 is added to key0 and
BUMP_1 to key1; all sums stay in 32 bits. The gradient goes through the
same kernel with the same key: the mask comes again, and was never
stored. x may hold NaN and infinities; a cell that is dropped is 0
whatever it held.
"""

from numba import cuda, float32, uint32, uint64

TPB = 64
PHILOX_A = 0xD2511F53
PHILOX_B = 0xCD9E8D57
BUMP_0 = 0x9E3779B9
BUMP_1 = 0xBB67AE85


@cuda.jit
def dropout(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    # your code here (about 24 lines)
