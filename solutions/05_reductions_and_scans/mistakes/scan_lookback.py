"""Wrong answers to scan_lookback that learners give."""

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


# hazard, waits-for-a-block-outside: Takes the number of the block for the number of its tile.
@cuda.jit
def tile_is_the_block(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.blockIdx.x
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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


# hazard, race: Every thread reads the ticket's number before it is drawn.
@cuda.jit
def no_barrier_after_the_ticket(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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


# hazard, race on told: Stores the word as any number, since it is written all at once.
@cuda.jit
def tells_by_a_plain_store(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        if lane == 0:
            bits = cuda.libdevice.float_as_int(total)
            told[tile] = (int64(bits) << 32) | TOTAL
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
            told[tile] = (int64(bits) << 32) | PREFIX
            start[0] = before

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


# hazard, race on told: Asks for a word as for any number.
@cuda.jit
def asks_by_plain_loads(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
                word = told[k]
                while word & STATE == NOTHING:
                    word = told[k]
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


# order-dependent, order-dependent: Tells the state, and adds the number to the word in a second
# step.
@cuda.jit
def state_before_the_number(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        if lane == 0:
            bits = cuda.libdevice.float_as_int(total)
            cuda.atomic.exch(told, tile, int64(TOTAL))
            cuda.atomic.add(told, tile, int64(bits) << 32)
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


# order-dependent, order-dependent: Asks for the state first, and once it is there for the number.
@cuda.jit
def asks_twice(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        if lane == 0:
            bits = cuda.libdevice.float_as_int(total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            word = int64(PREFIX)
            number = int64(0)
            if k >= 0:
                word = cuda.atomic.add(told, k, 0)
                while word & STATE == NOTHING:
                    word = cuda.atomic.add(told, k, 0)
                number = cuda.atomic.add(told, k, 0)
            ready = cuda.ballot_sync(FULL, word & STATE == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if lane <= last:
                part = cuda.libdevice.int_as_float(int32(number >> 32))
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


# wrong-result, number-for-bits: Makes a whole number of the sum, where its bits belong.
@cuda.jit
def numbers_for_their_bits(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        if lane == 0:
            bits = int32(total)
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
                part = float32(int32(word >> 32))
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            bits = int32(before + total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | PREFIX)
            start[0] = before

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


# hazard, endless-loop: Waits for prefixes and tells totals only.
@cuda.jit
def prefix_never_told(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
                while word & STATE != PREFIX:
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
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | TOTAL)
            start[0] = before

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


# hazard, endless-loop: A chain: waits until the tile before it has told its prefix.
@cuda.jit
def waits_for_the_neighbour(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        before = float32(0)
        if lane == 0 and tile > 0:
            word = cuda.atomic.add(told, tile - 1, 0)
            while word & STATE != PREFIX:
                word = cuda.atomic.add(told, tile - 1, 0)
            before = cuda.libdevice.int_as_float(int32(word >> 32))
        if lane == 0:
            bits = cuda.libdevice.float_as_int(before + total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | PREFIX)
            start[0] = before

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


# wrong-result, total-untold: Tells the prefix alone, since it holds all that the total does.
@cuda.jit
def keeps_its_total(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
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


# wrong-result, prefix-untold: Looks back, and keeps to itself what it found.
@cuda.jit
def keeps_its_prefix(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
            start[0] = before

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


# order-dependent, order-dependent: Goes on beyond a prefix, which holds all that stands before it.
@cuda.jit
def counts_twice(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
            if k >= 0:
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


# wrong-result, tiles-alone: Tells the others all it knows and asks nobody.
@cuda.jit
def looks_nowhere(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        if lane == 0:
            bits = cuda.libdevice.float_as_int(total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | TOTAL)
        before = float32(0)
        nearest = -1
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


# over-budget, over-budget: Adds up the numbers before its tile by itself, and waits for nobody.
@cuda.jit
def adds_up_all_before(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        before = float32(0)
        for i in range(lane, tile * TILE, WARP):
            before += a[i]
        step = 1
        while step < WARP:
            before += cuda.shfl_xor_sync(FULL, before, step)
            step *= 2
        if lane == 0:
            bits = cuda.libdevice.float_as_int(before + total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | PREFIX)
            start[0] = before

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


# over-budget, not-shared: One thread does the tile.
@cuda.jit
def one_thread_of_each_block(out, a, size, ticket, told):
    if cuda.threadIdx.x == 0:
        tile = cuda.atomic.add(ticket, 0, 1)
        x = float32(0)
        if tile > 0:
            word = cuda.atomic.add(told, tile - 1, 0)
            while word & STATE != PREFIX:
                word = cuda.atomic.add(told, tile - 1, 0)
            x = cuda.libdevice.int_as_float(int32(word >> 32))
        for i in range(tile * TILE, min((tile + 1) * TILE, size)):
            x += a[i]
            out[i] = x
        bits = cuda.libdevice.float_as_int(x)
        cuda.atomic.exch(told, tile, (int64(bits) << 32) | PREFIX)


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, a, size, ticket, told):
    buffer = cuda.shared.array(TILE, float32)
    sums = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    x = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    warp = t // WARP
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]

    # A warp loads EACH rows of 32 numbers, all of them before it needs
    # the first. In the buffer they change hands: each thread then has
    # EACH neighbours, and adds them up by itself. EACH is odd, so that no
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
    if warp == 0:
        if lane == 0:
            bits = cuda.libdevice.float_as_int(total)
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | TOTAL)
        before = 0.0
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
            bits = cuda.libdevice.float_as_int(float32(before + total))
            cuda.atomic.exch(told, tile, (int64(bits) << 32) | PREFIX)
            start[0] = before

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
