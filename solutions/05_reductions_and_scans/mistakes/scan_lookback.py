"""Wrong answers to scan_lookback that learners give."""

from numba import cuda, float32, int32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF
NOTHING = 0
TOTAL = 1
PREFIX = 2


# hazard, waits-for-a-block-outside: Takes the number of the block for the number of its tile.
@cuda.jit
def tile_is_the_block(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.blockIdx.x
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, race: Every thread reads the ticket's number before it is drawn.
@cuda.jit
def no_barrier_after_the_ticket(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, race on totals: Tells that the total is there, and nothing makes it be there.
@cuda.jit
def no_fence_before_the_state(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, no-fence-after: Knows that a number is there, and reads it as if it had it already.
@cuda.jit
def no_fence_after_the_state(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, race on state: Asks for the state as for any number.
@cuda.jit
def asks_by_plain_loads(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = state[k]
                while seen == NOTHING:
                    seen = state[k]
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, race on prefixes: Tells first and writes then.
@cuda.jit
def state_before_the_prefix(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            cuda.atomic.exch(state, tile, PREFIX)
            cuda.threadfence()
            prefixes[tile] = before + total
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, race on totals: Has one place for the total and, later, for the prefix.
@cuda.jit
def one_place_for_both(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            totals[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, endless-loop: Waits for prefixes and tells totals only.
@cuda.jit
def prefix_never_told(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen != PREFIX:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# hazard, endless-loop: A chain: waits until the tile before it has told its prefix.
@cuda.jit
def waits_for_the_neighbour(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        before = float32(0)
        if lane == 0 and tile > 0:
            while cuda.atomic.add(state, tile - 1, 0) != PREFIX:
                pass
            cuda.threadfence()
            before = prefixes[tile - 1]
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# wrong-result, past-a-prefix: Goes back to the first tile, whatever it meets on the way.
@cuda.jit
def adds_up_totals(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, k < 0)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# wrong-result, prefix-untold: Looks back, and keeps to itself what it found.
@cuda.jit
def keeps_its_prefix(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# order-dependent, order-dependent: Goes on beyond a prefix, which holds all that stands before
# it.
@cuda.jit
def counts_twice(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# wrong-result, tiles-alone: Tells the others all it knows and asks nobody.
@cuda.jit
def looks_nowhere(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = float32(0)
        nearest = -1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x


# over-budget, over-budget: Adds up the numbers before its tile by itself, and waits for nobody.
@cuda.jit
def adds_up_all_before(out, a, size, ticket, state, totals, prefixes):
    sums = cuda.shared.array(TPB, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    i = tile * TPB + t
    before = float32(0)
    for k in range(t, tile * TPB, TPB):
        before += a[k]
    sums[t] = before
    cuda.syncthreads()
    x = a[i] if i < size else float32(0)
    lane = cuda.laneid
    step = 1
    while step < WARP:
        y = cuda.shfl_up_sync(FULL, x, step)
        if lane >= step:
            x += y
        step *= 2
    halves = cuda.shared.array(WARPS, float32)
    if lane == WARP - 1:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t >= WARP:
        x += halves[0]
    for k in range(TPB):
        x += sums[k]
    if i < size:
        out[i] = x
    if t == TPB - 1:
        prefixes[tile] = x
        cuda.threadfence()
        cuda.atomic.exch(state, tile, PREFIX)


# over-budget, not-shared: One thread does the tile.
@cuda.jit
def one_thread_of_each_block(out, a, size, ticket, state, totals, prefixes):
    if cuda.threadIdx.x == 0:
        tile = cuda.atomic.add(ticket, 0, 1)
        x = float32(0)
        k = tile - 1
        while k >= 0:
            seen = cuda.atomic.add(state, k, 0)
            while seen == NOTHING:
                seen = cuda.atomic.add(state, k, 0)
            cuda.threadfence()
            x += prefixes[k] if seen == PREFIX else totals[k]
            k = -1 if seen == PREFIX else k - 1
        for i in range(tile * TPB, min((tile + 1) * TPB, size)):
            x += a[i]
            out[i] = x
        prefixes[tile] = x
        cuda.threadfence()
        cuda.atomic.exch(state, tile, PREFIX)


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, a, size, ticket, state, totals, prefixes):
    halves = cuda.shared.array(WARPS, float32)
    start = cuda.shared.array(1, float32)
    drawn = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    if t == 0:
        drawn[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = drawn[0]
    # The tile by itself: x is the sum up to this thread's number.
    i = tile * TPB + t
    x = a[i] if i < size else float32(0)
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
    # What the others may know, and what this block needs of them.
    if t < WARP:
        total = halves[0] + halves[1]
        if lane == 0:
            totals[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, TOTAL)
        before = 0.0
        nearest = tile - 1
        while nearest >= 0:
            k = nearest - lane
            seen = int32(PREFIX)
            if k >= 0:
                seen = cuda.atomic.add(state, k, 0)
                while seen == NOTHING:
                    seen = cuda.atomic.add(state, k, 0)
                cuda.threadfence()
            ready = cuda.ballot_sync(FULL, seen == PREFIX)
            last = cuda.ffs(ready) - 1 if ready else WARP
            part = float32(0)
            if k >= 0 and lane <= last:
                part = prefixes[k] if seen == PREFIX else totals[k]
            step = 1
            while step < WARP:
                part += cuda.shfl_xor_sync(FULL, part, step)
                step *= 2
            before += part
            nearest = -1 if ready else nearest - WARP
        if lane == 0:
            prefixes[tile] = before + total
            cuda.threadfence()
            cuda.atomic.exch(state, tile, PREFIX)
            start[0] = before
    cuda.syncthreads()
    if i < size:
        out[i] = start[0] + x
