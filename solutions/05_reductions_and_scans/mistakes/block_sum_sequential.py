"""Wrong answers to block_sum_sequential that learners give."""

from numba import cuda, float32

TPB = 128
SPAN = 256
ALL_LANES = 0xFFFFFFFF


# over-budget, over-budget: Adds neighbours first: the threads at work lie further and further
# apart.
@cuda.jit
def every_second_thread(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    total = a[i] if i < size else float32(0)
    total += a[i + TPB] if i + TPB < size else float32(0)
    tile[t] = total
    cuda.syncthreads()
    stride = 1
    while stride < TPB:
        if t % (2 * stride) == 0:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# over-budget, over-budget: The first threads work, on the cells of the tree before: strides
# through the banks.
@cuda.jit
def first_threads_far_cells(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    total = a[i] if i < size else float32(0)
    total += a[i + TPB] if i + TPB < size else float32(0)
    tile[t] = total
    cuda.syncthreads()
    stride = 1
    while stride < TPB:
        cell = 2 * stride * t
        if cell + stride < TPB:
            tile[cell] += tile[cell + stride]
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# hazard, race: Thinks that the last warp needs neither barriers nor shuffles.
@cuda.jit
def last_warp_without_waiting(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    total = a[i] if i < size else float32(0)
    total += a[i + TPB] if i + TPB < size else float32(0)
    tile[t] = total
    cuda.syncthreads()
    if t < 64:
        tile[t] += tile[t + 64]
    cuda.syncthreads()
    if t < 32:
        tile[t] += tile[t + 32]
        tile[t] += tile[t + 16]
        tile[t] += tile[t + 8]
        tile[t] += tile[t + 4]
        tile[t] += tile[t + 2]
        tile[t] += tile[t + 1]
        if t == 0:
            out[cuda.blockIdx.x] = tile[0]


# wrong-result, half-left-out: Forgets the second half of the piece.
@cuda.jit
def first_half_only(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# wrong-result, pieces-overlap: Begins each piece where the block's threads begin.
@cuda.jit
def pieces_overlap(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    total += a[i + TPB] if i + TPB < size else float32(0)
    tile[t] = total
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# hazard, out-of-bounds: Asks only once whether there is a cell, and reads two.
@cuda.jit
def one_guard_for_two_cells(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    tile[t] = a[i] + a[i + TPB] if i < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# hazard, inactive-lane: Shuffles with the lanes that add alone, and names all 32.
@cuda.jit
def half_of_the_lanes_shuffle(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    total = a[i] if i < size else float32(0)
    total += a[i + TPB] if i + TPB < size else float32(0)
    tile[t] = total
    cuda.syncthreads()
    if t < 64:
        tile[t] += tile[t + 64]
    cuda.syncthreads()
    if t < 32:
        total = tile[t] + tile[t + 32]
        offset = 16
        while offset > 0:
            if t < offset:
                total += cuda.shfl_down_sync(ALL_LANES, total, offset)
            offset //= 2
        if t == 0:
            out[cuda.blockIdx.x] = total


# over-budget, not-shared: One thread adds up the whole tile.
@cuda.jit
def one_thread_adds(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * SPAN + t
    total = a[i] if i < size else float32(0)
    total += a[i + TPB] if i + TPB < size else float32(0)
    tile[t] = total
    cuda.syncthreads()
    if t == 0:
        for k in range(1, TPB):
            total += tile[k]
        out[cuda.blockIdx.x] = total
