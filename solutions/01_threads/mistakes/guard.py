"""Wrong answers to guard that learners give."""

from numba import cuda


# hazard, out-of-bounds: Carries add_ten over to a launch with threads to spare.
@cuda.jit
def no_guard(out, a, size):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10


# hazard, out-of-bounds: Off by one: cell number `size` does not exist.
@cuda.jit
def guard_lets_one_too_many_in(out, a, size):
    i = cuda.threadIdx.x
    if i <= size:
        out[i] = a[i] + 10


# hazard, out-of-bounds: Takes reading for harmless.
@cuda.jit
def only_the_write_is_guarded(out, a, size):
    i = cuda.threadIdx.x
    value = a[i] + 10
    if i < size:
        out[i] = value


# wrong-result, tail-unwritten: Off by one the other way.
@cuda.jit
def guard_turns_the_last_cell_away(out, a, size):
    i = cuda.threadIdx.x
    if i < size - 1:
        out[i] = a[i] + 10


# wrong-result, tail-unwritten: Fits the example and nothing else.
@cuda.jit
def size_of_the_example(out, a, size):
    i = cuda.threadIdx.x
    if i < 8 and i < size:
        out[i] = a[i] + 10


# over-budget, not-shared: No thread is too many where only one does anything.
@cuda.jit
def one_thread_and_no_guard(out, a, size):
    if cuda.threadIdx.x == 0:
        for i in range(size):
            out[i] = a[i] + 10


# over-budget, done-again: Every thread goes through all the cells, and writes when it comes to
# its own.
@cuda.jit
def every_thread_looks_at_all(out, a, size):
    for i in range(size):
        value = a[i] + 10
        if i == cuda.threadIdx.x:
            out[i] = value
