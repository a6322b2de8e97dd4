"""Wrong answers to block_reverse that learners give."""

from numba import cuda, float32

TPB = 64


# hazard, race: Takes from the tile what another thread may not have brought yet.
@cuda.jit
def no_barrier(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
        out[i] = tile[length - 1 - t]


# hazard, race: Waits for a warp where a block has to be waited for.
@cuda.jit
def waited_for_the_warp(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
    cuda.syncwarp()
    if i < size:
        out[i] = tile[length - 1 - t]


# hazard, barrier-divergence: Puts everything behind one guard, the barrier too.
@cuda.jit
def barrier_behind_the_guard(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
        cuda.syncthreads()
        out[i] = tile[length - 1 - t]


# hazard, barrier-divergence: Sends the threads without a cell home before the barrier.
@cuda.jit
def left_before_the_barrier(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    if i >= size:
        return
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[min(TPB, size - start) - 1 - t]


# hazard, uninitialised-read: Mirrors a piece that is shorter as if it were whole.
@cuda.jit
def mirrored_a_full_tile(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[TPB - 1 - t]


# hazard, out-of-bounds: Counts the cells of the tile from 1.
@cuda.jit
def mirrored_at_the_length(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[length - t]


# wrong-result, whole-array: Turns the whole array round: the block's piece lands at the other
# end.
@cuda.jit
def turned_the_whole_array(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[size - 1 - i] = tile[t]


# over-budget, over-budget: Right without any tile: global memory is read backwards.
@cuda.jit
def read_global_backwards(out, a, size):
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        out[i] = a[start + length - 1 - t]


# over-budget, over-budget: Keeps the tile in order and writes global memory backwards.
@cuda.jit
def wrote_global_backwards(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[start + length - 1 - t] = tile[t]


# wrong-result, copied-input: Turns nothing round.
@cuda.jit
def only_copied(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t]


# over-budget, not-shared: One thread of the block fills the tile, and all empty it.
@cuda.jit
def one_thread_fills_the_tile(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if t == 0:
        for k in range(length):
            tile[k] = a[start + k]
    cuda.syncthreads()
    if t < length:
        out[start + t] = tile[length - 1 - t]


# over-budget, not-shared: The first thread of a block does all of it, and needs no barrier.
@cuda.jit
def one_thread_of_each_block(out, a, size):
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if cuda.threadIdx.x == 0:
        for t in range(length):
            out[start + t] = a[start + length - 1 - t]
