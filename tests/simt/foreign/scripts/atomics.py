"""Counting, extremes and a compare-and-swap, all by atomics."""

import numpy as np
from numba import cuda, int32


@cuda.jit
def count(x, bins):
    own = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, x[i] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(bins, t, own[t])


@cuda.jit
def extremes(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])
        if cuda.atomic.cas(out, 2, 0, 1) == 0:
            cuda.atomic.add(out, 3, 1)


x = np.random.default_rng(2).integers(-500, 500, 3000)
bins = np.zeros(8, np.int32)
count[4, 64](x, bins)
print("counted:", np.array_equal(bins, np.bincount(x % 8, minlength=8)))
out = np.array([-1000, 1000, 0, 0])
extremes[24, 128](x, out)
print("extremes:", out[0] == x.max(), out[1] == x.min(), "winners:", out[3])
