"""Wrong answers to scan_grid that learners give."""

from numba import cuda, float32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


# hazard, race: Reads the other warp's sum before it is there.
@cuda.jit
def no_barrier(out, sums, a, size):
    halves = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    x = a[i] if i < size else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        halves[t // WARP] = x
    if t >= WARP:
        x += halves[0]
    if i < size:
        out[i] = x
    if t == TPB - 1:
        sums[cuda.blockIdx.x] = x


# hazard, race, for scan_sums: Fills the two places for the next tiles while they are still read.
@cuda.jit
def one_barrier_in_the_loop(sums, tiles):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    before = float32(0)
    for first in range(0, tiles, TPB):
        tile = first + t
        x = sums[tile] if tile < tiles else float32(0)
        step = 1
        while step < WARP:
            y = cuda.shfl_up_sync(FULL, x, step)
            if lane >= step:
                x += y
            step *= 2
        if lane == WARP - 1:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t >= WARP:
            x += halves[0]
        if tile < tiles:
            sums[tile] = before + x
        before += halves[0] + halves[1]


# wrong-result, only-so-many-tiles, for scan_sums: There are no more tiles than threads, or so it
# seems.
@cuda.jit
def only_so_many_tiles(sums, tiles):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    x = sums[t] if t < tiles else float32(0)
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t >= WARP:
        x += halves[0]
    if t < tiles:
        sums[t] = x


# wrong-result, begins-again, for scan_sums: Goes on to the next tiles and forgets what came
# before them.
@cuda.jit
def begins_again(sums, tiles):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    before = float32(0)
    for first in range(0, tiles, TPB):
        tile = first + t
        x = sums[tile] if tile < tiles else float32(0)
        step = 1
        while step < WARP:
            y = cuda.shfl_up_sync(FULL, x, step)
            if lane >= step:
                x += y
            step *= 2
        if lane == WARP - 1:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t >= WARP:
            x += halves[0]
        if tile < tiles:
            sums[tile] = x
        before += halves[0] + halves[1]
        cuda.syncthreads()


# wrong-result, tiles-alone, for add_before: Has no use for the sums.
@cuda.jit
def nothing_added(out, sums, size):
    pass


# wrong-result, own-tile-added, for add_before: Adds the sum up to its own tile.
@cuda.jit
def own_tile_added(out, sums, size):
    i = cuda.grid(1)
    if i < size and cuda.blockIdx.x >= 0:
        out[i] += sums[cuda.blockIdx.x]


# hazard, out-of-bounds, for add_before: Forgets that nothing comes before the first tile.
@cuda.jit
def before_the_first_tile(out, sums, size):
    i = cuda.grid(1)
    if i < size:
        out[i] += sums[cuda.blockIdx.x - 1]


# wrong-result, one-tile-before, for scan_sums: Leaves the sums as they are, each of its own tile
# alone.
@cuda.jit
def sums_not_scanned(sums, tiles):
    pass


# over-budget, over-budget: Every thread adds up for itself all that stands before it in the tile.
@cuda.jit
def adds_up_from_the_start(out, sums, a, size):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    x = float32(0)
    for k in range(cuda.blockIdx.x * TPB, min(i + 1, size)):
        x += a[k]
    if i < size:
        out[i] = x
    if t == TPB - 1:
        sums[cuda.blockIdx.x] = x


# over-budget, over-budget: Adds up over a distance that doubles, with a barrier after each step.
@cuda.jit
def two_tiles_in_turn(out, sums, a, size):
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
    if t == TPB - 1:
        sums[cuda.blockIdx.x] = tile[now, t]


# over-budget, not-shared, for scan_sums: One thread adds up the sums, and the others wait for the
# next launch.
@cuda.jit
def one_thread_for_the_sums(sums, tiles):
    if cuda.threadIdx.x == 0:
        for tile in range(1, tiles):
            sums[tile] += sums[tile - 1]


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, sums, a, size):
    halves = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    x = a[i] if i < size else 0.0
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    if lane == WARP - 1:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t >= WARP:
        x += halves[0]
    if i < size:
        out[i] = x
    if t == TPB - 1:
        sums[cuda.blockIdx.x] = x
