"""Wrong answers to histogram that learners give."""

from numba import cuda, int32

BINS = 40


# hazard, race: Reads, adds and stores: three steps that other threads may come between.
@cuda.jit
def plain_plus(counts, values, size):
    i = cuda.grid(1)
    if i < size:
        value = values[i]
        if 0 <= value < BINS:
            counts[value] += 1


# hazard, out-of-bounds: Lets values through that have no bin.
@cuda.jit
def no_guard_for_the_bin(counts, values, size):
    i = cuda.grid(1)
    if i < size:
        cuda.atomic.add(counts, values[i], 1)


# wrong-result, strays-kept: Puts values without a bin into the nearest.
@cuda.jit
def strays_into_the_nearest_bin(counts, values, size):
    i = cuda.grid(1)
    if i < size:
        value = min(max(values[i], int32(0)), int32(BINS - 1))
        cuda.atomic.add(counts, value, 1)


# wrong-result, value-added: Adds the value instead of one.
@cuda.jit
def added_the_value(counts, values, size):
    i = cuda.grid(1)
    if i < size:
        value = values[i]
        if 0 <= value < BINS:
            cuda.atomic.add(counts, value, value)


# wrong-result, last-bin-left-out: Guards the bins from above only, and leaves out the last.
@cuda.jit
def last_bin_left_out(counts, values, size):
    i = cuda.grid(1)
    if i < size:
        value = values[i]
        if 0 <= value < BINS - 1:
            cuda.atomic.add(counts, value, 1)


# hazard, out-of-bounds: No guard for the threads behind the last cell.
@cuda.jit
def threads_unguarded(counts, values, size):
    value = values[cuda.grid(1)]
    if 0 <= value < BINS:
        cuda.atomic.add(counts, value, 1)


# over-budget, over-budget: A thread for each bin, which looks at every cell.
@cuda.jit
def a_thread_for_each_bin(counts, values, size):
    t = cuda.grid(1)
    for bin in range(t, BINS, cuda.gridsize(1)):
        found = counts[bin]
        for i in range(size):
            if values[i] == bin:
                found += 1
        counts[bin] = found


# over-budget, not-shared: One thread counts all cells.
@cuda.jit
def one_thread(counts, values, size):
    if cuda.grid(1) == 0:
        for i in range(size):
            value = values[i]
            if 0 <= value < BINS:
                counts[value] += 1


# over-budget, over-budget: Builds the addition from compare and exchange, and tries until it
# succeeds.
@cuda.jit
def compares_and_exchanges(counts, values, size):
    i = cuda.grid(1)
    if i < size:
        value = values[i]
        if 0 <= value < BINS:
            old = cuda.atomic.add(counts, value, 0)
            seen = cuda.atomic.cas(counts, value, old, old + 1)
            while seen != old:
                old = seen
                seen = cuda.atomic.cas(counts, value, old, old + 1)
