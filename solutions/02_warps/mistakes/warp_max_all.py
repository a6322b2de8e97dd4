"""Wrong answers to warp_max_all that learners give."""

import math

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF


# hazard, inactive-lane: Keeps lanes without a cell away from everything.
@cuda.jit
def shuffle_inside_the_guard(out, a, size):
    i = cuda.grid(1)
    if i < size:
        largest = a[i]
        for bit in (16, 8, 4, 2, 1):
            largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
        out[i] = largest


# hazard, inactive-lane: Writes the mask with half as many digits as it takes.
@cuda.jit
def half_of_the_mask(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-math.inf)
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFF, largest, bit))
    if i < size:
        out[i] = largest


# wrong-result, from-here-on: Does as in warp_sum.
@cuda.jit
def fetched_from_above(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-math.inf)
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_down_sync(ALL, largest, bit))
    if i < size:
        out[i] = largest


# wrong-result, half-a-warp: Begins at 1 and leaves off one doubling early.
@cuda.jit
def stopped_before_16(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-math.inf)
    for bit in (1, 2, 4, 8):
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
    if i < size:
        out[i] = largest


# wrong-result, groups: Five steps, so the bits are 1 to 5.
@cuda.jit
def counted_up_the_bits(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-math.inf)
    for bit in range(1, 6):
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
    if i < size:
        out[i] = largest


# wrong-result, began-at-zero: Gives a lane without a cell a 0, as in a sum.
@cuda.jit
def nothing_is_zero(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(0)
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
    if i < size:
        out[i] = largest


# wrong-result, began-too-high: Gives it a number that looks small enough.
@cuda.jit
def nothing_is_minus_a_billion(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-1e9)
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
    if i < size:
        out[i] = largest


# wrong-result, one-lane: Lets one lane write, as in warp_sum.
@cuda.jit
def lane_0_writes(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-math.inf)
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
    if cuda.laneid == 0 and i < size:
        out[i] = largest


# wrong-result, summed: Adds where it should compare.
@cuda.jit
def summed(out, a, size):
    i = cuda.grid(1)
    total = a[i] if i < size else float32(0)
    for bit in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(ALL, total, bit)
    if i < size:
        out[i] = total


# hazard, out-of-bounds: Guards the store and not the load.
@cuda.jit
def load_without_a_guard(out, a, size):
    i = cuda.grid(1)
    largest = a[i]
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(ALL, largest, bit))
    if i < size:
        out[i] = largest


# over-budget, over-budget: Finds the largest in lane 0, then tells the others.
@cuda.jit
def down_and_then_told(out, a, size):
    i = cuda.grid(1)
    largest = a[i] if i < size else float32(-math.inf)
    for bit in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_down_sync(ALL, largest, bit))
    largest = cuda.shfl_sync(ALL, largest, 0)
    if i < size:
        out[i] = largest


# over-budget, over-budget: Asks each lane in turn.
@cuda.jit
def asked_every_lane(out, a, size):
    i = cuda.grid(1)
    mine = a[i] if i < size else float32(-math.inf)
    largest = mine
    for lane in range(32):
        largest = max(largest, cuda.shfl_sync(ALL, mine, lane))
    if i < size:
        out[i] = largest


# over-budget, over-budget: Puts the numbers where all lanes can read them.
@cuda.jit
def through_a_tile(out, a, size):
    i = cuda.grid(1)
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    first = t - cuda.laneid
    tile[t] = a[i] if i < size else float32(-math.inf)
    cuda.syncwarp()
    largest = tile[t]
    for k in range(first, first + 32):
        largest = max(largest, tile[k])
    if i < size:
        out[i] = largest


# over-budget, over-budget: Each lane loads all numbers of its warp.
@cuda.jit
def every_lane_reads_all(out, a, size):
    i = cuda.grid(1)
    if i < size:
        first = i - cuda.laneid
        largest = a[i]
        for k in range(first, min(first + 32, size)):
            largest = max(largest, a[k])
        out[i] = largest


# over-budget, not-shared: Lane 0 does the work of its warp.
@cuda.jit
def one_lane_writes_for_all(out, a, size):
    i = cuda.grid(1)
    if cuda.laneid == 0:
        last = min(i + 32, size)
        largest = float32(-math.inf)
        for k in range(i, last):
            largest = max(largest, a[k])
        for k in range(i, last):
            out[k] = largest
