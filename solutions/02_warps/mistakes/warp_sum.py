"""Wrong answers to warp_sum that learners give."""

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF


# hazard, inactive-lane: Keeps lanes without a cell away from everything.
@cuda.jit
def shuffle_inside_the_guard(out, a, size):
    i = cuda.grid(1)
    if i < size:
        total = a[i]
        for delta in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, delta)
        if cuda.laneid == 0:
            out[i // 32] = total


# hazard, inactive-lane: Names 16 lanes, for the sum is in the lower half soon.
@cuda.jit
def half_of_the_mask(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFF, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# wrong-result, last-cell-again: Lets a lane without a cell load the last one.
@cuda.jit
def last_cell_again(out, a, size):
    i = cuda.grid(1)
    total = a[min(i, size - 1)]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# wrong-result, half-a-warp: Takes 8 for half of a warp.
@cuda.jit
def began_at_8(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# wrong-result, even-lanes: Stops one halving early.
@cuda.jit
def stopped_before_1(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (16, 8, 4, 2):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# wrong-result, twice: Begins with the size of a warp.
@cuda.jit
def began_at_32(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (32, 16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# wrong-result, lane-0-alone: Fetches from lower lanes, and expects the sum in lane 0.
@cuda.jit
def fetched_from_below(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_up_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# wrong-result, last-lane: Expects the sum at the other end of the warp.
@cuda.jit
def last_lane_writes(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 31 and i // 32 < len(out):
        out[i // 32] = total


# hazard, race: All lanes have a sum, so all lanes write.
@cuda.jit
def every_lane_writes(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if i < size:
        out[i // 32] = total


# hazard, race: Thinks of a block where the puzzle thinks of a warp.
@cuda.jit
def one_cell_for_the_block(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[cuda.blockIdx.x] = total


# hazard, out-of-bounds: Guards the store and not the load.
@cuda.jit
def load_without_a_guard(out, a, size):
    i = cuda.grid(1)
    total = a[i]
    for delta in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(ALL, total, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# over-budget, over-budget: Lane 0 asks each of the others in turn.
@cuda.jit
def thirty_one_shuffles(out, a, size):
    i = cuda.grid(1)
    mine = a[i] if i < size else float32(0)
    total = mine
    for lane in range(1, 32):
        total += cuda.shfl_sync(ALL, mine, lane)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = total


# over-budget, over-budget: Puts the numbers where lane 0 can read them.
@cuda.jit
def through_a_tile(out, a, size):
    i = cuda.grid(1)
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncwarp()
    if cuda.laneid == 0 and i < size:
        total = float32(0)
        for k in range(32):
            total += tile[t + k]
        out[i // 32] = total


# over-budget, over-budget: Lets the memory add.
@cuda.jit
def atomics(out, a, size):
    i = cuda.grid(1)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = 0
    cuda.syncwarp()
    if i < size:
        cuda.atomic.add(out, i // 32, a[i])


# over-budget, over-budget: Lane 0 loads all that it needs itself.
@cuda.jit
def one_lane_reads_all(out, a, size):
    i = cuda.grid(1)
    if cuda.laneid == 0 and i < size:
        total = float32(0)
        for k in range(i, min(i + 32, size)):
            total += a[k]
        out[i // 32] = total


# over-budget, not-shared: One thread does the warps of its block.
@cuda.jit
def one_thread_of_each_block(out, a, size):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        for first in range(i, min(i + TPB, size), 32):
            total = float32(0)
            for k in range(first, min(first + 32, size)):
                total += a[k]
            out[first // 32] = total
