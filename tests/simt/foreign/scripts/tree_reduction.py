"""Sums an array: a tree in shared memory for each block, one atomic for each tree."""

import numpy as np
from numba import cuda, int64

THREADS = 64


@cuda.jit
def total(values, out):
    own = cuda.shared.array(THREADS, int64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own[t] = values[i] if i < values.size else 0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half:
        if t < half:
            own[t] += own[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, own[0])


values = cuda.to_device(np.arange(1000))
out = cuda.to_device(np.zeros(1, np.int64))
total[16, THREADS](values, out)
print("sum:", out.copy_to_host()[0])
