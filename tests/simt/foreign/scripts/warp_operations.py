"""What the lanes of a warp tell each other: shuffles, votes, matches, masks."""

import numpy as np
from numba import cuda

ALL = 0xFFFFFFFF


@cuda.jit
def talk(x, total, rotated, votes, alike):
    lane = cuda.laneid
    value = x[lane]
    step = 16
    while step:
        value += cuda.shfl_down_sync(ALL, value, step)
        step //= 2
    if lane == 0:
        total[0] = value
    rotated[lane] = cuda.shfl_sync(ALL, x[lane], (lane + 1) % 32)
    odd = cuda.ballot_sync(ALL, x[lane] % 2)
    if lane == 0:
        votes[0] = cuda.popc(odd)
    every = cuda.all_sync(ALL, x[lane] >= 0)
    some = cuda.any_sync(ALL, x[lane] == 99)
    if lane == 1:
        votes[1] = every
        votes[2] = some
    alike[lane] = cuda.popc(cuda.match_any_sync(ALL, x[lane] // 8))


x = np.arange(32)
total, rotated, votes, alike = (np.zeros(k, np.int64) for k in (1, 32, 3, 32))
talk[1, 32](x, total, rotated, votes, alike)
print("total:", *total, "rotated:", rotated[0], rotated[31], "votes:", *votes)
print("alike:", *np.unique(alike))
