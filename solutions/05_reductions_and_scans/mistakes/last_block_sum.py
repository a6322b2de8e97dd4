"""Wrong answers to last_block_sum that learners give."""

from numba import cuda, float32, int32

TPB = 64
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


# hazard, race on parts: Tells that the part is there, and nothing makes it be there.
@cuda.jit
def no_fence(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# hazard, no-fence-after: Has found all others counted, and reads their parts as if it had them
# already.
@cuda.jit
def no_fence_after(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# hazard, waits-for-a-block-outside: Block 0 adds up the parts, and waits until all others have
# been counted.
@cuda.jit
def block_0_waits(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(arrived, 0, 0) < blocks:
                pass
            cuda.threadfence()
    cuda.syncthreads()
    if cuda.blockIdx.x == 0:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# hazard, race: Every thread looks at the place before thread 0 has left it there.
@cuda.jit
def no_barrier(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    if place[0] == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# hazard, race on arrived: Counts those that have arrived without an atomic.
@cuda.jit
def counted_plainly(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = arrived[0]
        arrived[0] += 1
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# wrong-result, never-put-back: Leaves the counter as it is, and the next launch begins with it.
@cuda.jit
def never_put_back(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]


# wrong-result, nobody-is-last: Counts blocks, and waits for as many as there are threads.
@cuda.jit
def as_many_as_threads(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks * TPB - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# hazard, race on parts: Takes the block with the last number for the one that comes last.
@cuda.jit
def last_by_number(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if cuda.blockIdx.x == blocks - 1:
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# wrong-result, only-so-many-parts: Adds up as many parts as the block has threads.
@cuda.jit
def only_so_many_parts(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = parts[t] if t < blocks else float32(0)
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# over-budget, over-budget: An atomic for every thread, where one for the block would do.
@cuda.jit
def a_ticket_for_each_thread(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
    cuda.syncthreads()
    place = cuda.atomic.add(arrived, 0, 1)
    cuda.threadfence()
    if cuda.syncthreads_or(1 if place == blocks * TPB - 1 else 0):
        x = float32(0)
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)


# over-budget, not-shared: One thread of the last block adds up all the parts.
@cuda.jit
def one_thread_for_the_parts(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else float32(0)
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        if cuda.atomic.add(arrived, 0, 1) == blocks - 1:
            cuda.threadfence()
            total = float32(0)
            for k in range(blocks):
                total += parts[k]
            out[0] = total
            cuda.atomic.exch(arrived, 0, 0)


# over-budget, over-budget: Begins with a number that is a float64, and adds in float64 from there
# on.
@cuda.jit
def sums_in_float64(out, parts, arrived, a, size):
    halves = cuda.shared.array(WARPS, float32)
    place = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    blocks = cuda.gridDim.x
    i = cuda.grid(1)
    x = a[i] if i < size else 0.0
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]
        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
        x = 0.0
        for k in range(t, blocks, TPB):
            x += parts[k]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            out[0] = halves[0] + halves[1]
            cuda.atomic.exch(arrived, 0, 0)
