"""Wrong answers to blocks that learners give."""

from numba import cuda


# hazard, race: Every block works on the first cells.
@cuda.jit
def thread_number_without_block(out, a, size):
    i = cuda.threadIdx.x
    if i < size:
        out[i] = a[i] * a[i]


# hazard, race: Moves each block by one cell, not by a block.
@cuda.jit
def added_the_block_number(out, a, size):
    i = cuda.blockIdx.x + cuda.threadIdx.x
    if i < size:
        out[i] = a[i] * a[i]


# hazard, race: Multiplies by the number of blocks.
@cuda.jit
def grid_side_for_block_side(out, a, size):
    i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
    if i < size:
        out[i] = a[i] * a[i]


# hazard, race: Fits blocks of 4 threads and no others.
@cuda.jit
def block_side_of_the_example(out, a, size):
    i = cuda.blockIdx.x * 4 + cuda.threadIdx.x
    if i < size:
        out[i] = a[i] * a[i]


# wrong-result, gaps: Multiplies the wrong one of the two numbers.
@cuda.jit
def factors_exchanged(out, a, size):
    i = cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x
    if i < size:
        out[i] = a[i] * a[i]


# hazard, out-of-bounds: Forgets the threads to spare in the last block.
@cuda.jit
def no_guard(out, a, size):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    out[i] = a[i] * a[i]


# wrong-result, doubled: Takes the square for the double.
@cuda.jit
def doubled(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = 2 * a[i]


# over-budget, not-shared: One thread of all does everything: then no two write to one cell.
@cuda.jit
def one_thread_does_it_all(out, a, size):
    if cuda.grid(1) == 0:
        for i in range(size):
            out[i] = a[i] * a[i]


# over-budget, not-shared: The first thread of every block does the block's cells.
@cuda.jit
def one_thread_of_each_block(out, a, size):
    start = cuda.blockIdx.x * cuda.blockDim.x
    if cuda.threadIdx.x == 0:
        for i in range(start, min(start + cuda.blockDim.x, size)):
            out[i] = a[i] * a[i]
