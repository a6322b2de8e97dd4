"""Wrong answers to grid_stride that learners give."""

from numba import cuda


# wrong-result, tail-unwritten: Expects a thread for every cell.
@cuda.jit
def one_cell_per_thread(out, a, b, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] - b[i]


# hazard, race: Steps by the threads of one block, though there are more blocks.
@cuda.jit
def stride_of_a_block(out, a, b, size):
    for i in range(cuda.grid(1), size, cuda.blockDim.x):
        out[i] = a[i] - b[i]


# hazard, race: Writes the loop as if there were one thread.
@cuda.jit
def every_thread_from_zero(out, a, b, size):
    for i in range(size):
        out[i] = a[i] - b[i]


# hazard, race: Starts every block at the first cells.
@cuda.jit
def started_at_the_local_number(out, a, b, size):
    for i in range(cuda.threadIdx.x, size, cuda.gridsize(1)):
        out[i] = a[i] - b[i]


# hazard, out-of-bounds: Takes the end of range for the last number.
@cuda.jit
def one_step_too_far(out, a, b, size):
    for i in range(cuda.grid(1), size + 1, cuda.gridsize(1)):
        out[i] = a[i] - b[i]


# hazard, endless-loop: Forgets the step at the end of the loop.
@cuda.jit
def never_moves_on(out, a, b, size):
    i = cuda.grid(1)
    while i < size:
        out[i] = a[i] - b[i]


# wrong-result, wrong-sign: Takes a from b.
@cuda.jit
def subtracted_the_wrong_way(out, a, b, size):
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        out[i] = b[i] - a[i]


# over-budget, not-shared: A single thread is never in another one's way.
@cuda.jit
def one_thread_does_it_all(out, a, b, size):
    if cuda.grid(1) == 0:
        for i in range(size):
            out[i] = a[i] - b[i]


# over-budget, not-shared: A piece for each thread, its length rounded down; the last thread gets
# the rest as well.
@cuda.jit
def the_rest_for_the_last_thread(out, a, b, size):
    threads = cuda.gridsize(1)
    piece = size // threads
    first = cuda.grid(1) * piece
    last = size if cuda.grid(1) == threads - 1 else first + piece
    for i in range(first, last):
        out[i] = a[i] - b[i]


# wrong-result, tail-unwritten: A piece for each thread, its length rounded down, and nobody for
# the rest.
@cuda.jit
def pieces_rounded_down(out, a, b, size):
    piece = size // cuda.gridsize(1)
    first = cuda.grid(1) * piece
    for i in range(first, first + piece):
        out[i] = a[i] - b[i]
