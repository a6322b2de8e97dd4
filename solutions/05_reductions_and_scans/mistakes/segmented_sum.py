"""Wrong answers to segmented_sum that learners give."""

from numba import cuda, float32, int32

TPB = 64
WARP = 32
FULL = 0xFFFFFFFF


# over-budget, over-budget: An atomic for every number.
@cuda.jit
def an_atomic_for_each(out, key, a, size):
    i = cuda.grid(1)
    if i < size:
        cuda.atomic.add(out, key[i], a[i])


# hazard, race: Adds to out as if nobody else did.
@cuda.jit
def plain_addition(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i] if i < size else float32(0)
    mine = key[i] if i < size else int32(-1)
    step = 1
    while step < WARP:
        y = cuda.shfl_down_sync(FULL, x, step)
        theirs = cuda.shfl_down_sync(FULL, mine, step)
        if lane + step < WARP and theirs == mine:
            x += y
        step *= 2
    previous = cuda.shfl_up_sync(FULL, mine, 1)
    if i < size and (lane == 0 or previous != mine):
        out[mine] += x


# wrong-result, keys-not-compared: Adds what comes from the right, whoever it belongs to.
@cuda.jit
def keys_not_compared(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i] if i < size else float32(0)
    mine = key[i] if i < size else int32(-1)
    step = 1
    while step < WARP:
        y = cuda.shfl_down_sync(FULL, x, step)
        theirs = cuda.shfl_down_sync(FULL, mine, step)
        if lane + step < WARP:
            x += y
        step *= 2
    previous = cuda.shfl_up_sync(FULL, mine, 1)
    if i < size and (lane == 0 or previous != mine):
        cuda.atomic.add(out, mine, x)


# wrong-result, own-number-again: Compares keys, and forgets that the last lanes get their own back.
@cuda.jit
def keys_alone(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i] if i < size else float32(0)
    mine = key[i] if i < size else int32(-1)
    step = 1
    while step < WARP:
        y = cuda.shfl_down_sync(FULL, x, step)
        theirs = cuda.shfl_down_sync(FULL, mine, step)
        if theirs == mine:
            x += y
        step *= 2
    previous = cuda.shfl_up_sync(FULL, mine, 1)
    if i < size and (lane == 0 or previous != mine):
        cuda.atomic.add(out, mine, x)


# wrong-result, lost-at-the-warp: Looks for the first number of a segment, and a warp may begin
# within one.
@cuda.jit
def only_where_a_segment_begins(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i] if i < size else float32(0)
    mine = key[i] if i < size else int32(-1)
    step = 1
    while step < WARP:
        y = cuda.shfl_down_sync(FULL, x, step)
        theirs = cuda.shfl_down_sync(FULL, mine, step)
        if lane + step < WARP and theirs == mine:
            x += y
        step *= 2
    if i < size and (i == 0 or key[i - 1] != mine):
        cuda.atomic.add(out, mine, x)


# hazard, inactive-lane: Shuffles behind the guard of the array.
@cuda.jit
def shuffles_behind_the_guard(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    if i < size:
        x = a[i]
        mine = key[i]
        step = 1
        while step < WARP:
            y = cuda.shfl_down_sync(FULL, x, step)
            theirs = cuda.shfl_down_sync(FULL, mine, step)
            if lane + step < WARP and theirs == mine:
                x += y
            step *= 2
        previous = cuda.shfl_up_sync(FULL, mine, 1)
        if lane == 0 or previous != mine:
            cuda.atomic.add(out, mine, x)


# wrong-result, one-step: Looks at the neighbour once, and segments are longer than two.
@cuda.jit
def one_step_only(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i] if i < size else float32(0)
    mine = key[i] if i < size else int32(-1)
    step = 1
    while step < 2:
        y = cuda.shfl_down_sync(FULL, x, step)
        theirs = cuda.shfl_down_sync(FULL, mine, step)
        if lane + step < WARP and theirs == mine:
            x += y
        step *= 2
    previous = cuda.shfl_up_sync(FULL, mine, 1)
    if i < size and (lane == 0 or previous != mine):
        cuda.atomic.add(out, mine, x)


# over-budget, not-shared: One thread of each block does the piece.
@cuda.jit
def one_thread_of_each_block(out, key, a, size):
    first = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        last = min(first + TPB, size)
        x = a[first]
        for i in range(first + 1, last):
            if key[i] != key[i - 1]:
                cuda.atomic.add(out, key[i - 1], x)
                x = float32(0)
            x += a[i]
        cuda.atomic.add(out, key[last - 1], x)


# over-budget, done-again: A thread for each segment: it looks for its numbers through the whole
# array.
@cuda.jit
def a_thread_for_each_segment(out, key, a, size):
    s = cuda.grid(1)
    if s < out.size:
        x = float32(0)
        for i in range(size):
            if key[i] == s:
                x += a[i]
        out[s] += x


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, key, a, size):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i] if i < size else 0.0
    mine = key[i] if i < size else int32(-1)
    step = 1
    while step < WARP:
        y = cuda.shfl_down_sync(FULL, x, step)
        theirs = cuda.shfl_down_sync(FULL, mine, step)
        if lane + step < WARP and theirs == mine:
            x += y
        step *= 2
    previous = cuda.shfl_up_sync(FULL, mine, 1)
    if i < size and (lane == 0 or previous != mine):
        cuda.atomic.add(out, mine, x)
