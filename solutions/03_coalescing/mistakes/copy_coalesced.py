"""Wrong answers to copy_coalesced that learners give."""

from numba import cuda

TPB = 64
PER_THREAD = 4


# over-budget, over-budget: Four neighbouring cells for each thread, as one would share them out
# on a CPU.
@cuda.jit
def a_chunk_for_each_thread(out, a, size):
    first = cuda.grid(1) * PER_THREAD
    for k in range(PER_THREAD):
        i = first + k
        if i < size:
            out[i] = a[i]


# over-budget, over-budget: Two neighbours at a time, as a wide load would take them.
@cuda.jit
def two_neighbours_at_a_time(out, a, size):
    first = cuda.blockIdx.x * TPB * PER_THREAD + 2 * cuda.threadIdx.x
    for half in range(2):
        for k in range(2):
            i = first + half * 2 * TPB + k
            if i < size:
                out[i] = a[i]


# wrong-result, chunks-in: A chunk of the input for each thread, and the output in order: a
# different cell.
@cuda.jit
def chunks_in_and_rows_out(out, a, size):
    start = cuda.blockIdx.x * TPB * PER_THREAD
    for k in range(PER_THREAD):
        i = start + cuda.threadIdx.x * PER_THREAD + k
        j = start + cuda.threadIdx.x + k * TPB
        if i < size and j < size:
            out[j] = a[i]


# hazard, race: Lanes are 32, so the step must be 32: the block's second warp lands on the first
# one's cells.
@cuda.jit
def steps_by_a_warp(out, a, size):
    first = cuda.blockIdx.x * TPB * PER_THREAD + cuda.threadIdx.x
    for k in range(PER_THREAD):
        i = first + k * 32
        if i < size:
            out[i] = a[i]


# hazard, race: Numbers the threads of the grid, though a block has four times as many cells as
# threads.
@cuda.jit
def blocks_too_close(out, a, size):
    first = cuda.grid(1)
    for k in range(PER_THREAD):
        i = first + k * TPB
        if i < size:
            out[i] = a[i]


# hazard, out-of-bounds: Guards the first cell of a thread and trusts the others.
@cuda.jit
def guards_the_first_cell_alone(out, a, size):
    first = cuda.blockIdx.x * TPB * PER_THREAD + cuda.threadIdx.x
    if first < size:
        for k in range(PER_THREAD):
            out[first + k * TPB] = a[first + k * TPB]


# wrong-result, one-each: One cell for each thread, as in lesson 01.
@cuda.jit
def one_cell_for_each_thread(out, a, size):
    i = cuda.blockIdx.x * TPB * PER_THREAD + cuda.threadIdx.x
    if i < size:
        out[i] = a[i]


# over-budget, not-shared: A single thread of the block copies the whole piece.
@cuda.jit
def one_thread_copies_the_piece(out, a, size):
    if cuda.threadIdx.x == 0:
        start = cuda.blockIdx.x * TPB * PER_THREAD
        for k in range(TPB * PER_THREAD):
            if start + k < size:
                out[start + k] = a[start + k]
