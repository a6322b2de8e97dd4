"""Wrong answers to scan_block that learners give."""

from numba import cuda, float32

TPB = 128
WARP = 32
WARPS = 4
FULL = 0xFFFFFFFF


# hazard, race: Does not wait until every warp has left its sum.
@cuda.jit
def no_barrier(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp - 1]
    if i < size:
        out[i] = x


# hazard, race: Reads a neighbour's cell and writes its own between the same two barriers.
@cuda.jit
def in_place(out, a, size):
    tile = cuda.shared.array(TPB, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < TPB:
        if t >= step:
            tile[t] += tile[t - step]
        cuda.syncthreads()
        step *= 2
    if i < size:
        out[i] = tile[t]


# hazard, barrier-divergence: Lets only the threads with a number come to the barrier.
@cuda.jit
def barrier_behind_the_guard(out, a, size):
    sums = cuda.shared.array(TPB, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        sums[t] = a[i]
        cuda.syncthreads()
        step = 1
        while step < TPB:
            y = sums[t - step] if t >= step else float32(0)
            cuda.syncthreads()
            sums[t] += y
            cuda.syncthreads()
            step *= 2
        out[i] = sums[t]


# hazard, inactive-lane: Shuffles behind the guard of the array.
@cuda.jit
def shuffles_behind_the_guard(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = float32(0)
    if i < size:
        x = a[i]
        step = 1
        while step < WARP:
            y = cuda.shfl_up_sync(FULL, x, step)
            if lane >= step:
                x += y
            step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    for w in range(warp):
        x += sums[w]
    if i < size:
        out[i] = x


# wrong-result, own-number-again: Forgets that the first lanes get their own number back.
@cuda.jit
def every_lane_adds(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp - 1]
    if i < size:
        out[i] = x


# wrong-result, half-the-warp: Stops at 16, half of the 32.
@cuda.jit
def four_steps(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP // 2:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp - 1]
    if i < size:
        out[i] = x


# wrong-result, exclusive: Leaves its own number out.
@cuda.jit
def exclusive(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp - 1]
    if i < size:
        out[i] = x - a[i]


# wrong-result, one-warp-before: Takes the sums of the warps for sums up to the warps.
@cuda.jit
def sums_not_scanned(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp - 1]
    if i < size:
        out[i] = x


# wrong-result, own-warp-added: Takes the place of its own warp, where that of the one before
# belongs.
@cuda.jit
def place_of_the_own_warp(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp]
    if i < size:
        out[i] = x


# wrong-result, warps-alone: Scans each warp and stops there.
@cuda.jit
def each_warp_alone(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else float32(0)
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if i < size:
        out[i] = x


# over-budget, over-budget: Adds up over a distance that doubles, with a barrier after each step.
@cuda.jit
def two_tiles_in_turn(out, a, size):
    tile = cuda.shared.array((2, TPB), float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[0, t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    now = 0
    step = 1
    while step < TPB:
        x = tile[now, t]
        if t >= step:
            x += tile[now, t - step]
        tile[1 - now, t] = x
        now = 1 - now
        cuda.syncthreads()
        step *= 2
    if i < size:
        out[i] = tile[now, t]


# over-budget, over-budget: Every thread adds up for itself all that stands before it.
@cuda.jit
def adds_up_from_the_start(out, a, size):
    i = cuda.grid(1)
    if i < size:
        x = float32(0)
        for k in range(cuda.blockIdx.x * TPB, i + 1):
            x += a[k]
        out[i] = x


# over-budget, not-shared: One thread does the piece.
@cuda.jit
def one_thread_of_each_block(out, a, size):
    first = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        x = float32(0)
        for i in range(first, min(first + TPB, size)):
            x += a[i]
            out[i] = x


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, a, size):
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    lane = cuda.laneid
    warp = cuda.threadIdx.x // WARP
    x = a[i] if i < size else 0.0
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = x
    cuda.syncthreads()
    if warp == 0:
        total = sums[lane] if lane < WARPS else 0.0
        step = 1
        while step < WARPS:
            y = cuda.shfl_up_sync(FULL, total, step)
            if lane >= step:
                total += y
            step *= 2
        if lane < WARPS:
            sums[lane] = total
    cuda.syncthreads()
    if warp > 0:
        x += sums[warp - 1]
    if i < size:
        out[i] = x
