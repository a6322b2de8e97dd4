"""segmented_sum: many sums of neighbours, with few atomics.

    segmented_sum(out, key, a, size)

    out   float32 (segments,)   to add to: out[s] += the sum of all a[i]
                                with key[i] == s
    key   int32 (size,)         to read: each number's segment. Keys
                                never go down; some are left out
    a     float32 (size,)       to read
    size  int                   how many numbers there are

A segment may be one number long or go on through several blocks. Adding
each number to out by itself costs an atomic for every number: let a
warp add once for each segment it has a part of. Each thread writes at
most one cell.

size is 1 or more. NaN and infinities count as in any sum, each in its
own segment and in no other.
"""

from numba import cuda, float32, int32

TPB = 64
WARP = 32
FULL = 0xFFFFFFFF


@cuda.jit
def segmented_sum(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    # your code here (about 12 lines)
