"""Wrong answers to argmax that learners give."""

import math

from numba import cuda, float32, int32

TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF


# wrong-result, tie: Takes whichever of two equal numbers comes up.
@cuda.jit
def ties_as_they_come(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best:
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best:
                best = x
                at = col
        out[row] = at


# wrong-result, last-of-equals: Lets the last of equal numbers win.
@cuda.jit
def last_of_equal_numbers(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x >= best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col > at):
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col > at):
                best = x
                at = col
        out[row] = at


# wrong-result, nan-sticks: Begins with the first number of the row, which may be a NaN: nothing
# is larger.
@cuda.jit
def began_at_a_nan(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = a[row, 0]
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col < at):
                best = x
                at = col
        out[row] = at


# wrong-result, began-too-high: Begins with a number that is low, and not the lowest.
@cuda.jit
def began_at_a_low_number(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-1e30)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col < at):
                best = x
                at = col
        out[row] = at


# wrong-result, began-at-zero: Begins with zero, which no negative number beats.
@cuda.jit
def began_at_zero(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(0)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col < at):
                best = x
                at = col
        out[row] = at


# hazard, race: Reads what other warps found, and nothing makes it wait.
@cuda.jit
def no_barrier(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col < at):
                best = x
                at = col
        out[row] = at


# wrong-result, column-of-its-own: Takes the number from the lane beyond and keeps its own column.
@cuda.jit
def column_of_its_own(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col < at):
                best = x
                at = col
        out[row] = at


# wrong-result, one-warp: Takes the first warp for the block.
@cuda.jit
def first_warp_only(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
            at = col
        offset //= 2
    if t == 0:
        out[row] = at


# over-budget, over-budget: A tree in shared memory: right, and it waits in every step.
@cuda.jit
def tree_in_shared_memory(out, a, cols):
    numbers = cuda.shared.array(TPB, float32)
    places = cuda.shared.array(TPB, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if x > best:
            best = x
            at = int32(col)
    numbers[t] = best
    places[t] = at
    cuda.syncthreads()
    stride = TPB // 2
    while stride > 0:
        if t < stride:
            x = numbers[t + stride]
            col = places[t + stride]
            if x > numbers[t] or (x == numbers[t] and col < places[t]):
                numbers[t] = x
                places[t] = col
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[row] = places[0]


# over-budget, not-shared: One thread looks through the row.
@cuda.jit
def one_thread_of_each_block(out, a, cols):
    row = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        best = float32(-math.inf)
        at = int32(0)
        for col in range(cols):
            if a[row, col] > best:
                best = a[row, col]
                at = int32(col)
        out[row] = at


# wrong-result, nan-in-the-way: Replaces the best number by any that is not smaller or equal, and
# a NaN is neither.
@cuda.jit
def not_smaller_wins(out, a, cols):
    numbers = cuda.shared.array(WARPS, float32)
    places = cuda.shared.array(WARPS, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    best = float32(-math.inf)
    at = int32(0)
    for col in range(t, cols, TPB):
        x = a[row, col]
        if not x <= best:
            best = x
            at = int32(col)
    offset = 16
    while offset > 0:
        x = cuda.shfl_down_sync(ALL_LANES, best, offset)
        col = cuda.shfl_down_sync(ALL_LANES, at, offset)
        if x > best or (x == best and col < at):
            best = x
            at = col
        offset //= 2
    if lane == 0:
        numbers[warp] = best
        places[warp] = at
    cuda.syncthreads()
    if t == 0:
        for k in range(1, WARPS):
            x = numbers[k]
            col = places[k]
            if x > best or (x == best and col < at):
                best = x
                at = col
        out[row] = at


# over-budget, not-shared: One warp does the row, and the other three look on.
@cuda.jit
def one_warp_of_each_block(out, a, cols):
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t < 32:
        best = float32(-math.inf)
        at = int32(0)
        for col in range(t, cols, 32):
            x = a[row, col]
            if x > best:
                best = x
                at = int32(col)
        offset = 16
        while offset > 0:
            x = cuda.shfl_down_sync(ALL_LANES, best, offset)
            col = cuda.shfl_down_sync(ALL_LANES, at, offset)
            if x > best or (x == best and col < at):
                best = x
                at = col
            offset //= 2
        if t == 0:
            out[row] = at
