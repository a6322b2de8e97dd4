"""Wrong answers to warp_scan that learners give."""

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF


# hazard, inactive-lane: Keeps lanes without a cell away from everything.
@cuda.jit
def shuffle_inside_the_guard(out, a, size):
    i = cuda.grid(1)
    if i < size:
        total = a[i]
        for delta in (1, 2, 4, 8, 16):
            before = cuda.shfl_up_sync(ALL, total, delta)
            if cuda.laneid >= delta:
                total += before
        out[i] = total


# hazard, inactive-lane: Shuffles in the line that adds, where some lanes are missing.
@cuda.jit
def shuffle_where_it_adds(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        if cuda.laneid >= delta:
            total += cuda.shfl_up_sync(ALL, total, delta)
    if i < size:
        out[i] = total


# wrong-result, no-lane-guard: Lets all lanes add, as in warp_sum.
@cuda.jit
def no_lane_guard(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        total += cuda.shfl_up_sync(ALL, total, delta)
    if i < size:
        out[i] = total


# wrong-result, thread-not-lane: Asks for the thread's number, which is the lane's in the first
# warp.
@cuda.jit
def asked_the_thread(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if i >= delta:
            total += before
    if i < size:
        out[i] = total


# wrong-result, one-lane-late: Keeps out one lane too many.
@cuda.jit
def one_lane_late(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if cuda.laneid > delta:
            total += before
    if i < size:
        out[i] = total


# wrong-result, window-of-16: Stops one doubling early.
@cuda.jit
def stopped_before_16(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if cuda.laneid >= delta:
            total += before
    if i < size:
        out[i] = total


# wrong-result, own-left-out: Begins where the first doubling ends.
@cuda.jit
def began_at_2(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if cuda.laneid >= delta:
            total += before
    if i < size:
        out[i] = total


# wrong-result, exclusive: Sums what comes before, without the lane's own number.
@cuda.jit
def without_its_own(out, a, size):
    i = cuda.grid(1)
    mine = a[i] if i < size else float32(0)
    total = mine
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if cuda.laneid >= delta:
            total += before
    if i < size:
        out[i] = total - mine


# wrong-result, from-here-on: Fetches from the other side.
@cuda.jit
def fetched_from_above(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_down_sync(ALL, total, delta)
        if cuda.laneid + delta < 32:
            total += before
    if i < size:
        out[i] = total


# hazard, out-of-bounds: Guards the store and not the load.
@cuda.jit
def load_without_a_guard(out, a, size):
    i = cuda.grid(1)
    total = a[i]
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if cuda.laneid >= delta:
            total += before
    if i < size:
        out[i] = total


# hazard, race: Writes to the lane's number.
@cuda.jit
def every_warp_in_the_first(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        before = cuda.shfl_up_sync(ALL, total, delta)
        if cuda.laneid >= delta:
            total += before
    if i < size:
        out[cuda.laneid] = total


# over-budget, over-budget: Fetches the neighbours one by one.
@cuda.jit
def one_neighbour_at_a_time(out, a, size):
    i = cuda.grid(1)
    mine = a[i] if i < size else float32(0)
    total = mine
    for delta in range(1, 32):
        before = cuda.shfl_up_sync(ALL, mine, delta)
        if cuda.laneid >= delta:
            total += before
    if i < size:
        out[i] = total


# over-budget, over-budget: The same five steps in shared memory.
@cuda.jit
def through_a_tile(out, a, size):
    i = cuda.grid(1)
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    total = a[i] if i < size else float32(0)
    for delta in (1, 2, 4, 8, 16):
        tile[t] = total
        cuda.syncwarp()
        if cuda.laneid >= delta:
            total += tile[t - delta]
        cuda.syncwarp()
    if i < size:
        out[i] = total


# over-budget, over-budget: Each lane loads all that comes before it.
@cuda.jit
def every_lane_reads_back(out, a, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        for k in range(i - cuda.laneid, i + 1):
            total += a[k]
        out[i] = total


# over-budget, not-shared: Lane 0 does the work of its warp.
@cuda.jit
def one_lane_of_each_warp(out, a, size):
    i = cuda.grid(1)
    if cuda.laneid == 0:
        total = float32(0)
        for k in range(i, min(i + 32, size)):
            total += a[k]
            out[k] = total
