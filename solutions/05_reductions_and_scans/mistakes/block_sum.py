"""Wrong answers to block_sum that learners give."""

from numba import cuda, float32

TPB = 128


# hazard, race: Thinks that a loop keeps its threads together.
@cuda.jit
def no_barrier_in_the_loop(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# hazard, race: Lets every thread add in every step, also those whose cell is being read.
@cuda.jit
def everybody_adds(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t + stride < TPB:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# hazard, barrier-divergence: Only those who add wait.
@cuda.jit
def barrier_behind_the_guard(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
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


# hazard, uninitialised-read: Leaves the places behind the end of the array as they are.
@cuda.jit
def nothing_where_no_cell_is(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# wrong-result, step-missing: Stops when two are left.
@cuda.jit
def one_step_short(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 1:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# wrong-result, first-piece: Every block reads the first piece.
@cuda.jit
def first_piece_only(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t] if t < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# over-budget, over-budget: Waits between reading and adding as well, which no step needs.
@cuda.jit
def two_barriers_a_step(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        other = tile[t + stride] if t < stride else float32(0)
        cuda.syncthreads()
        if t < stride:
            tile[t] += other
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# over-budget, not-shared: One thread adds up the whole tile, one number after another.
@cuda.jit
def one_thread_adds(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(TPB):
            total += tile[k]
        out[cuda.blockIdx.x] = total
