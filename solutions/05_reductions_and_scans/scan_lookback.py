"""scan_lookback: the sums up to each number of an array, in one launch.

    scan_lookback(out, a, size, ticket, told)

    out     float32 (size,)   to write: out[i] = a[0] + ... + a[i]
    a       float32 (size,)   to read
    size    int               how many numbers there are
    ticket  int32 (1,)        0 at first: the next tile that is free
    told    int64 (tiles,)    0 at first: for each tile a word, in which
                              it tells the others what it knows

There is a block for each tile of TILE numbers. The GPU starts the
blocks in any order, as many at a time as it has room for. It may hold
one up for long after it has told its total: nobody waits for a prefix
where a total is told.

A word holds a state and a number. Its last two bits are the state:
NOTHING, TOTAL or PREFIX. Its upper half has the 32 bits of the number,
a float32. cuda.libdevice.float_as_int(x) gives these bits as an int32,
and cuda.libdevice.int_as_float(bits) turns them into a float32 again.

The scan of a tile is given; each thread has EACH numbers of it. You
take a tile for the block, tell its total, find out what all tiles
before it add up to, tell what that gives, and leave in start[0] what
the tile begins with. Load each number once. Each thread writes at most
EACH cells of out.

size is 1 or more. A NaN or an infinity counts in all sums from its
place on, and in none before it.
"""

from numba import cuda, float32, int32, int64

TPB = 128
EACH = 15
TILE = 1920
WARP = 32
WARPS = 4
FULL = 0xFFFFFFFF
NOTHING = 0
TOTAL = 1
PREFIX = 2
STATE = 3


@cuda.jit
def scan_lookback(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    # answer
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # end answer

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so no
    # two lanes meet in a bank.
    corner = warp * EACH * WARP
    rows = buffer[corner + lane :]
    mine = buffer[corner + lane * EACH :]
    first = tile * TILE + corner + lane
    left = size - first
    rows_of_a = a[first:]
    for k in range(EACH):
        x[k] = rows_of_a[k * WARP] if k * WARP < left else float32(0)
    for k in range(EACH):
        rows[k * WARP] = x[k]
    cuda.syncwarp()
    x[0] = mine[0]
    for k in range(1, EACH):
        x[k] = x[k - 1] + mine[k]

    # `ahead` is the sum of what stands in the tile before this thread's
    # numbers, and `total` the sum of the whole tile.
    sum_to_here = x[EACH - 1]
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, sum_to_here, step)
        if lane >= step:
            sum_to_here += y
        step *= 2
    if lane == WARP - 1:
        sums[warp] = sum_to_here
    cuda.syncthreads()
    ahead = cuda.shfl_up_sync(FULL, sum_to_here, 1)
    if lane == 0:
        ahead = float32(0)
    total = float32(0)
    for w in range(WARPS):
        if w < warp:
            ahead += sums[w]
        total += sums[w]

    # What the others may know, and what this block needs of them.
    # answer
    if warp == 0:
        if lane == 0:
            bits = cuda.libdevice.float_as_int(total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            word = int64(PREFIX)
            if k >= 0:
                word = cuda.atomic.add(told, k, 0)
                while word & STATE == NOTHING:
                    word = cuda.atomic.add(told, k, 0)
            ready = cuda.ballot_sync(FULL, word & STATE == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if lane <= last:
                part = cuda.libdevice.int_as_float(int32(word >> 32))
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            bits = cuda.libdevice.float_as_int(before + total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | PREFIX)
            start[0] = before
    # end answer

    # The sums go back through the buffer, and are stored in rows.
    cuda.syncthreads()
    ahead += start[0]
    for k in range(EACH):
        mine[k] = ahead + x[k]
    cuda.syncwarp()
    rows_of_out = out[first:]
    for k in range(EACH):
        if k * WARP < left:
            rows_of_out[k * WARP] = rows[k * WARP]
