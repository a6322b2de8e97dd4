"""top_k: the largest numbers of a row, in one reading.

    top_k(values, places, logits, cols, k)

    values  float32 (rows, k)     to write: the k largest numbers of
                                  each row, the largest first
    places  int32 (rows, k)       to write: the columns they stand in
    logits  float32 (rows, cols)  to read
    cols    int                   how many columns there are, at most
                                  MOST
    k       int                   how many are asked for, at most 32 and
                                  at most cols

Of equal numbers the one in the lower column comes first; 0 and -0 are
equal. A NaN is larger than any number, and two of them are equal.
Logits may be infinite. Each row has a block of its own. Each number of
logits comes from memory once. Each thread writes at most one cell of
each result.
"""

from numba import cuda, float32, int32, int64, uint32

TPB = 128
WARPS = 4
MOST = 2048
# your code here (about 20 lines)


@cuda.jit
def top_k(values, places, logits, cols, k):
    # your code here (about 28 lines)
    pass
