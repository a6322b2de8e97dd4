"""Wrong answers to compact that learners give."""

from numba import cuda, int32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


# order-dependent, order-dependent, for place: Takes the next free place, whoever comes first.
@cuda.jit
def places_by_an_atomic(out, starts, a, low, size):
    i = cuda.grid(1)
    if i < size and a[i] > low:
        out[cuda.atomic.add(starts, cuda.blockIdx.x, 1)] = a[i]


# hazard, inactive-lane, for place: Asks the lanes behind the guard of the array.
@cuda.jit
def ballot_behind_the_guard(out, starts, a, low, size):
    kept = cuda.shared.array(WARPS, int32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // WARP
    if i < size:
        keeps = a[i] > low
        lanes = cuda.ballot_sync(FULL, keeps)
        if cuda.laneid == 0:
            kept[warp] = cuda.popc(lanes)
    cuda.syncthreads()
    if i < size and a[i] > low:
        k = starts[cuda.blockIdx.x]
        k += cuda.popc(lanes & cuda.lanemask_lt())
        if warp > 0:
            k += kept[0]
        out[k] = a[i]


# hazard, race, for place: Reads the first warp's count before it is there.
@cuda.jit
def no_barrier(out, starts, a, low, size):
    kept = cuda.shared.array(WARPS, int32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // WARP
    keeps = i < size and a[i] > low
    lanes = cuda.ballot_sync(FULL, keeps)
    if cuda.laneid == 0:
        kept[warp] = cuda.popc(lanes)
    if keeps:
        k = starts[cuda.blockIdx.x]
        k += cuda.popc(lanes & cuda.lanemask_lt())
        if warp > 0:
            k += kept[0]
        out[k] = a[i]


# hazard, race on out, for place: Forgets the warp before its own.
@cuda.jit
def warp_before_forgotten(out, starts, a, low, size):
    kept = cuda.shared.array(WARPS, int32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // WARP
    keeps = i < size and a[i] > low
    lanes = cuda.ballot_sync(FULL, keeps)
    if cuda.laneid == 0:
        kept[warp] = cuda.popc(lanes)
    cuda.syncthreads()
    if keeps:
        k = starts[cuda.blockIdx.x]
        k += cuda.popc(lanes & cuda.lanemask_lt())
        out[k] = a[i]


# hazard, out-of-bounds, for place: Keeps every number where it was.
@cuda.jit
def with_gaps(out, starts, a, low, size):
    i = cuda.grid(1)
    if i < size and a[i] > low:
        out[i] = a[i]


# hazard, out-of-bounds, for place: Counts its own number too: every place is one too far on.
@cuda.jit
def own_number_counted(out, starts, a, low, size):
    kept = cuda.shared.array(WARPS, int32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // WARP
    keeps = i < size and a[i] > low
    lanes = cuda.ballot_sync(FULL, keeps)
    if cuda.laneid == 0:
        kept[warp] = cuda.popc(lanes)
    cuda.syncthreads()
    if keeps:
        k = starts[cuda.blockIdx.x] + 1
        k += cuda.popc(lanes & cuda.lanemask_lt())
        if warp > 0:
            k += kept[0]
        out[k] = a[i]


# wrong-result, from-the-end, for place: Fills each piece from its end.
@cuda.jit
def from_the_end(out, starts, a, low, size):
    kept = cuda.shared.array(WARPS, int32)
    i = cuda.grid(1)
    warp = cuda.threadIdx.x // WARP
    keeps = i < size and a[i] > low
    lanes = cuda.ballot_sync(FULL, keeps)
    if cuda.laneid == 0:
        kept[warp] = cuda.popc(lanes)
    cuda.syncthreads()
    if keeps:
        k = starts[cuda.blockIdx.x] + kept[0] + kept[1] - 1
        k -= cuda.popc(lanes & cuda.lanemask_lt())
        if warp > 0:
            k -= kept[0]
        out[k] = a[i]


# over-budget, over-budget, for place: Goes through the piece again to count those before it.
@cuda.jit
def counts_in_every_thread(out, starts, a, low, size):
    i = cuda.grid(1)
    if i < size and a[i] > low:
        k = starts[cuda.blockIdx.x]
        for j in range(cuda.blockIdx.x * TPB, i):
            if a[j] > low:
                k += 1
        out[k] = a[i]


# over-budget, not-shared, for place: One thread of each block does the piece.
@cuda.jit
def one_thread_of_each_block(out, starts, a, low, size):
    first = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        k = starts[cuda.blockIdx.x]
        for i in range(first, min(first + TPB, size)):
            if a[i] > low:
                out[k] = a[i]
                k += 1
