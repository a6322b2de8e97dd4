"""Wrong answers to histogram_private that learners give."""

from numba import cuda, int32

TPB = 128
BINS = 200


# over-budget, over-budget: Counts in global memory, one atomic for each cell.
@cuda.jit
def counted_in_global_memory(counts, values, size):
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[i], 1)


# hazard, race: Does not wait until the table is clear.
@cuda.jit
def counted_before_it_is_clear(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])


# hazard, race: Adds the table before all have counted.
@cuda.jit
def added_before_all_have_counted(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])


# hazard, uninitialised-read: Takes the table as clear from the start.
@cuda.jit
def never_cleared(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])


# hazard, uninitialised-read: Clears as many bins as there are threads.
@cuda.jit
def cleared_one_bin_each(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])


# wrong-result, bins-left-out: Adds as many bins as there are threads.
@cuda.jit
def added_one_bin_each(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, own[t])


# hazard, race: Counts without atomics, since the table is the block's own.
@cuda.jit
def plain_plus_in_the_table(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        own[values[i]] += 1
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])


# hazard, race: Stores the table over what is there.
@cuda.jit
def stored_over_the_counts(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        counts[k] += own[k]


# wrong-result, cells-left-out: A cell for each thread, and the rest is left out.
@cuda.jit
def no_loop(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < size:
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    for k in range(t, BINS, TPB):
        cuda.atomic.add(counts, k, own[k])


# over-budget, not-shared: One thread adds the whole table.
@cuda.jit
def one_thread_adds_the_table(counts, values, size):
    own = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for k in range(t, BINS, TPB):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if t == 0:
        for k in range(BINS):
            cuda.atomic.add(counts, k, own[k])
