"""last_block_sum: the sum of an array, in one launch.

    last_block_sum(out, parts, arrived, a, size)

    out      float32 (1,)        to write: the sum of all numbers of a
    parts    float32 (blocks,)   scratch, for a number per block
    arrived  int32 (1,)          0 at first, and 0 again at the end: the
                                 kernel is launched twice, on different
                                 numbers, with the same counter
    a        float32 (size,)     to read
    size     int                 how many numbers there are

Each block adds up its TPB numbers. The block that finishes last adds up
the parts, with all its threads; nobody knows beforehand which block
that is. Count each block once. Each thread writes at most one cell of
out.

size is 1 or more. NaN and infinities count as in any sum.
"""

from numba import cuda, float32, int32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


@cuda.jit
def last_block_sum(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    # answer
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)
    # end answer
