"""Wrong answers to add_ten that learners give."""

from numba import cuda


# wrong-result, added-index: Adds the number of the thread, not ten.
@cuda.jit
def added_index(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + i


# wrong-result, copied-input: Moves the data and forgets the sum.
@cuda.jit
def only_copied(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i]


# hazard, race: Thinks of one thread and forgets that all the others run the same line.
@cuda.jit
def everyone_writes_cell_zero(out, a):
    i = cuda.threadIdx.x
    out[0] = a[i] + 10


# hazard, out-of-bounds: Counts cells from 1.
@cuda.jit
def wrote_to_the_neighbour(out, a):
    i = cuda.threadIdx.x
    out[i + 1] = a[i] + 10


# input-changed, input-changed: Changes a in place.
@cuda.jit
def wrote_to_the_input(out, a):
    i = cuda.threadIdx.x
    a[i] += 10


# over-budget, not-shared: One thread goes through all the cells, as a program on a CPU does; the
# others do nothing.
@cuda.jit
def one_thread_does_it_all(out, a):
    if cuda.grid(1) == 0:
        for i in range(len(a)):
            out[i] = a[i] + 10
