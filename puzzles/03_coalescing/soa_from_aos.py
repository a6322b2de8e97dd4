"""soa_from_aos: four numbers side by side become four arrays.

    soa_from_aos(out, a, size)

    out   float32 (4, size)   to write: out[field, i] = a[i, field]
    a     float32 (size, 4)   to read: x, y, z, mass of each particle
    size  int                 how many particles there are

A block of TPB threads has TPB particles, and so FIELDS times as many
numbers. Each thread moves at most FIELDS numbers. Neither loads nor
stores may touch more sectors than they have to. a may hold NaN and
infinities as well.
"""

from numba import cuda, float32

TPB = 64
FIELDS = 4


@cuda.jit
def soa_from_aos(out, a, size):
    # your code here (about 11 lines)
    pass
