"""Wrong answers to gather that learners give."""

from numba import cuda


# hazard, race: Uses the index as the place to write.
@cuda.jit
def scattered(out, a, index, size):
    i = cuda.grid(1)
    if i < size:
        out[index[i]] = a[i]


# wrong-result, copied-input: Does not look at the index.
@cuda.jit
def ignored_the_index(out, a, index, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i]


# hazard, out-of-bounds: Forgets the threads to spare in the last block.
@cuda.jit
def no_guard(out, a, index, size):
    i = cuda.grid(1)
    out[i] = a[index[i]]


# hazard, out-of-bounds, for gather_reversed: Counts the cells from 1 on the way back.
@cuda.jit
def mirror_at_size(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[size - i]


# hazard, out-of-bounds, for gather_reversed: Relies on Python's negative indices.
@cuda.jit
def counted_from_the_end(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[-1 - i]


# wrong-result, copied-input, for gather_reversed: Mirrors where it reads and where it writes.
@cuda.jit
def mirrored_both_sides(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[size - 1 - i] = a[size - 1 - i]


# wrong-result, half-reversed, for gather_reversed: Keeps half of the loop that reverses a list in
# place.
@cuda.jit
def half_of_the_threads(out, a, size):
    i = cuda.grid(1)
    if i < size // 2:
        out[i] = a[size - 1 - i]


# hazard, out-of-bounds, for gather_shifted: Lets the index run below zero.
@cuda.jit
def forgot_to_wrap(out, a, shift, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i - shift]


# hazard, out-of-bounds, for gather_shifted: Reads i - shift % size as (i - shift) % size.
@cuda.jit
def wrapped_the_shift_only(out, a, shift, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i - shift % size]


# hazard, out-of-bounds, for gather_shifted: Goes around once at most, and never to the left.
@cuda.jit
def wrapped_once(out, a, shift, size):
    i = cuda.grid(1)
    if i < size:
        j = i - shift
        if j < 0:
            j += size
        out[i] = a[j]


# wrong-result, shifted-to-the-left, for gather_shifted: Moves the reader where the numbers should
# move.
@cuda.jit
def to_the_left(out, a, shift, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[(i + shift) % size]


# over-budget, not-shared, for gather_reversed: Half of the threads exchange two cells each.
@cuda.jit
def two_cells_for_each_thread(out, a, size):
    i = cuda.grid(1)
    if i < (size + 1) // 2:
        out[i] = a[size - 1 - i]
        out[size - 1 - i] = a[i]
