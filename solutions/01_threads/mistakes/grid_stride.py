"""Wrong answers to grid_stride that learners give."""

from numba import cuda


# Expects a thread for every cell.
@cuda.jit
def one_cell_per_thread(out, a, b, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] - b[i]


# Steps by the threads of one block, though there are more blocks.
@cuda.jit
def stride_of_a_block(out, a, b, size):
    for i in range(cuda.grid(1), size, cuda.blockDim.x):
        out[i] = a[i] - b[i]


# Writes the loop as if there were one thread.
@cuda.jit
def every_thread_from_zero(out, a, b, size):
    for i in range(size):
        out[i] = a[i] - b[i]


# Starts every block at the first cells.
@cuda.jit
def started_at_the_local_number(out, a, b, size):
    for i in range(cuda.threadIdx.x, size, cuda.gridsize(1)):
        out[i] = a[i] - b[i]


# Takes the end of range for the last number.
@cuda.jit
def one_step_too_far(out, a, b, size):
    for i in range(cuda.grid(1), size + 1, cuda.gridsize(1)):
        out[i] = a[i] - b[i]


# Forgets the step at the end of the loop.
@cuda.jit
def never_moves_on(out, a, b, size):
    i = cuda.grid(1)
    while i < size:
        out[i] = a[i] - b[i]


# Takes a from b.
@cuda.jit
def subtracted_the_wrong_way(out, a, b, size):
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        out[i] = b[i] - a[i]
