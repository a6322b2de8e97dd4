"""Two arrays of different types side by side in the launch's dynamic shared memory."""

import numpy as np
from numba import cuda, float32, int32


@cuda.jit
def turn_round(x, k, n):
    numbers = cuda.shared.array(0, float32)
    whole = cuda.shared.array(0, int32)
    counts = whole[n:]
    t = cuda.threadIdx.x
    numbers[t] = x[t]
    counts[t] = k[t]
    cuda.syncthreads()
    x[t] = numbers[n - 1 - t]
    k[t] = counts[n - 1 - t]


n = 48
x = np.arange(n, dtype=np.float32)
k = np.arange(n, dtype=np.int32) * 10
stream = cuda.stream()
turn_round[1, n, stream, n * 8](x, k, n)
print("turned:", *x[:3], *k[:3])
