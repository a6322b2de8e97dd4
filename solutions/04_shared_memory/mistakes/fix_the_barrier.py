"""Wrong answers to fix_the_barrier that learners give."""

from numba import cuda, float32

TPB = 64
HALF = 32


# hazard, race: No barrier, no complaint about the barrier.
@cuda.jit
def took_the_barrier_out(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        tile[t] = a[i]
        out[i] = tile[t - 1] if t > 0 else float32(0)


# hazard, barrier-divergence: Sends the threads without a cell home: they still miss at the
# barrier.
@cuda.jit
def returned_early(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= size:
        return
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[t - 1] if t > 0 else float32(0)


# hazard, barrier-divergence: A barrier in each branch: a block meets at one line, not at two.
@cuda.jit
def a_barrier_for_those_left_over(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        tile[t] = a[i]
        cuda.syncthreads()
        out[i] = tile[t - 1] if t > 0 else float32(0)
    else:
        cuda.syncthreads()


# hazard, out-of-bounds: Takes the guard away: all threads come past, and the last ones beyond the
# array.
@cuda.jit
def took_the_guard_out(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[t - 1] if t > 0 else float32(0)


# hazard, race: Moves the barrier behind the guard, after the read.
@cuda.jit
def barrier_after_the_read(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        tile[t] = a[i]
        out[i] = tile[t - 1] if t > 0 else float32(0)
    cuda.syncthreads()


# hazard, barrier-divergence, for exchange_halves: Leaves one of the two barriers in its branch.
@cuda.jit
def one_branch_waits(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    mine = a[i] if i < size else float32(0)
    taken = float32(0)
    if t < HALF:
        tile[t] = mine
        cuda.syncthreads()
        taken = tile[t + HALF]
    else:
        tile[t] = -mine
        taken = tile[t - HALF]
    if i < size:
        out[i] = taken


# wrong-result, lost-sign, for exchange_halves: Brings the branches together and loses the sign on
# the way.
@cuda.jit
def lost_the_sign(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if i < size:
        out[i] = tile[(t + HALF) % TPB]


# hazard, barrier-divergence, for reverse_chunks: All threads turn the loop equally often, and the
# barriers are inside the guard.
@cuda.jit
def guard_around_the_barriers(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for first in range(0, cols, TPB):
        col = first + t
        length = min(TPB, cols - first)
        if col < cols:
            tile[t] = a[row, col]
            cuda.syncthreads()
            out[row, col] = tile[length - 1 - t]
            cuda.syncthreads()


# hazard, barrier-divergence, for reverse_chunks: Stops as soon as this thread has no cell.
@cuda.jit
def broke_out_of_the_loop(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for first in range(0, cols, TPB):
        col = first + t
        length = min(TPB, cols - first)
        if col >= cols:
            break
        tile[t] = a[row, col]
        cuda.syncthreads()
        out[row, col] = tile[length - 1 - t]
        cuda.syncthreads()


# hazard, race, for reverse_chunks: Keeps one barrier per chunk: the next chunk runs over this
# one.
@cuda.jit
def one_barrier_per_chunk(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for first in range(0, cols, TPB):
        col = first + t
        length = min(TPB, cols - first)
        if col < cols:
            tile[t] = a[row, col]
        cuda.syncthreads()
        if col < cols:
            out[row, col] = tile[length - 1 - t]


# wrong-result, tail-unwritten, for reverse_chunks: Does whole chunks only and leaves the rest of
# the row.
@cuda.jit
def whole_chunks_only(out, a, cols):
    tile = cuda.shared.array(TPB, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for chunk in range(cols // TPB):
        col = chunk * TPB + t
        tile[t] = a[row, col]
        cuda.syncthreads()
        out[row, col] = tile[TPB - 1 - t]
        cuda.syncthreads()


# over-budget, not-shared: Where one thread does everything, nobody has to wait.
@cuda.jit
def one_thread_and_no_barrier(out, a, size):
    start = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        for i in range(start, min(start + TPB, size)):
            out[i] = a[i - 1] if i > start else float32(0)
