"""What a GPU allows and the course's puzzles do not: a flag all may raise, an index from the end,
a barrier that some threads have left behind."""

import numpy as np
from numba import cuda


@cuda.jit
def lenient(x, found):
    i = cuda.grid(1)
    if x[i] > 3:
        found[0] = 1
    if i == 0:
        found[-1] = 5
    if i >= 16:
        return
    cuda.syncthreads()


found = np.zeros(3, np.int64)
lenient[1, 32](np.arange(32), found)
print(*found)
