"""Wrong answers to fix_the_race that learners give."""

from numba import cuda, float32

TPB = 64


# hazard, race: Waits before there is anything to wait for.
@cuda.jit
def waited_before_the_write(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    cuda.syncthreads()
    if i < size:
        tile[t] = a[i]
        out[i] = tile[(t + 1) % length]


# hazard, barrier-divergence: Puts the barrier between the lines, and inside the guard.
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
        out[i] = tile[(t + 1) % length]


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
        out[i] = tile[(t + 1) % length]


# hazard, race: Takes a fence for a barrier: it orders what one thread does, and nobody waits.
@cuda.jit
def fenced_and_did_not_wait(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
    cuda.threadfence_block()
    if i < size:
        out[i] = tile[(t + 1) % length]


# wrong-result, not-by-piece: Goes round the race by not using the tile: it stops at the block's
# end no more.
@cuda.jit
def rotated_the_whole_array(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[(i + 1) % size]


# hazard, race, for reverse_rows: Leaves the loop as it was: the next row is written over this
# one.
@cuda.jit
def one_barrier_per_row(out, a, rows, cols):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        if t < cols:
            tile[t] = a[row, t]
        cuda.syncthreads()
        if t < cols:
            out[row, t] = tile[cols - 1 - t]


# hazard, race, for reverse_rows: Moves the barrier to the end of the turn, and now the other one
# is missing.
@cuda.jit
def moved_the_barrier(out, a, rows, cols):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        if t < cols:
            tile[t] = a[row, t]
        if t < cols:
            out[row, t] = tile[cols - 1 - t]
        cuda.syncthreads()


# hazard, race, for reverse_rows: The second barrier comes after the loop, when all rows are done.
@cuda.jit
def second_barrier_after_the_loop(out, a, rows, cols):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        if t < cols:
            tile[t] = a[row, t]
        cuda.syncthreads()
        if t < cols:
            out[row, t] = tile[cols - 1 - t]
    cuda.syncthreads()


# hazard, race, for add_neighbours: Two barriers around a line that reads and writes: within the
# line nothing is ordered.
@cuda.jit
def barriers_around_the_sum(out, a, size, rounds):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    for _ in range(rounds):
        cuda.syncthreads()
        if t > 0:
            tile[t] += tile[t - 1]
        cuda.syncthreads()
    if i < size:
        out[i] = tile[t]


# hazard, race, for add_neighbours: Reads, waits, writes, and runs into the next round.
@cuda.jit
def no_wait_after_the_write(out, a, size, rounds):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    for _ in range(rounds):
        left = tile[t - 1] if t > 0 else float32(0)
        cuda.syncthreads()
        tile[t] += left
    if i < size:
        out[i] = tile[t]


# wrong-result, one-after-another, for add_neighbours: Lets one thread do it all, from the left:
# each cell gets a neighbour that has changed already.
@cuda.jit
def one_thread_from_the_left(out, a, size, rounds):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    for _ in range(rounds):
        if t == 0:
            for k in range(1, TPB):
                tile[k] += tile[k - 1]
        cuda.syncthreads()
    if i < size:
        out[i] = tile[t]


# hazard, barrier-divergence, for add_neighbours: The barrier stands where thread 0 does not come
# past.
@cuda.jit
def barrier_without_thread_0(out, a, size, rounds):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    for _ in range(rounds):
        if t > 0:
            left = tile[t - 1]
            cuda.syncthreads()
            tile[t] += left
        cuda.syncthreads()
    if i < size:
        out[i] = tile[t]


# over-budget, over-budget: No tile, no race: but now a warp reads from an odd place of global
# memory.
@cuda.jit
def read_from_global(out, a, size):
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        out[i] = a[start + (t + 1) % length]


# over-budget, over-budget, for reverse_rows: Sprinkles barriers until the message goes away.
@cuda.jit
def a_barrier_after_every_line(out, a, rows, cols):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    cuda.syncthreads()
    for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
        cuda.syncthreads()
        if t < cols:
            tile[t] = a[row, t]
        cuda.syncthreads()
        if t < cols:
            out[row, t] = tile[cols - 1 - t]
        cuda.syncthreads()


# over-budget, not-shared, for add_neighbours: Where one thread does everything, nobody races.
@cuda.jit
def one_thread_does_it_all(out, a, size, rounds):
    tile = cuda.shared.array(TPB, float32)
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if cuda.threadIdx.x == 0:
        for k in range(length):
            tile[k] = a[start + k]
        for _ in range(rounds):
            for k in range(length - 1, 0, -1):
                tile[k] += tile[k - 1]
        for k in range(length):
            out[start + k] = tile[k]


# over-budget, over-budget: The one barrier that is missing, and another for good measure.
@cuda.jit
def one_barrier_too_many(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[(t + 1) % length]
    cuda.syncthreads()
