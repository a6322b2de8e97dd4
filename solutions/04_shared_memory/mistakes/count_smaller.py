"""Wrong answers to count_smaller that learners give."""

from numba import cuda, float32

TPB = 64


# hazard, race: Counts before the others have brought their numbers.
@cuda.jit
def no_barrier(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    count = 0
    for k in range(TPB):
        if tile[k] < tile[t]:
            count += 1
    out[i] = count


# hazard, race: Waits at the end, where it is too late.
@cuda.jit
def waited_at_the_end(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    count = 0
    for k in range(TPB):
        if tile[k] < tile[t]:
            count += 1
    cuda.syncthreads()
    out[i] = count


# hazard, race: Waits for the warp where the block is meant.
@cuda.jit
def waited_for_the_warp(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncwarp()
    count = 0
    for k in range(TPB):
        if tile[k] < tile[t]:
            count += 1
    out[i] = count


# over-budget, over-budget: Looks up every number in global memory, and needs no tile.
@cuda.jit
def no_tile_at_all(out, a):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * TPB
    count = 0
    for k in range(TPB):
        if a[start + k] < a[i]:
            count += 1
    out[i] = count


# over-budget, over-budget: Uses the tile for the others, and loads its own number each time.
@cuda.jit
def own_number_again(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    count = 0
    for k in range(TPB):
        if tile[k] < a[i]:
            count += 1
    out[i] = count


# over-budget, over-budget: Gives each thread a copy of all 64 numbers of its own.
@cuda.jit
def each_brings_all(out, a):
    start = cuda.blockIdx.x * TPB
    mine = a[cuda.grid(1)]
    own = cuda.local.array(TPB, float32)
    for k in range(TPB):
        own[k] = a[start + k]
    count = 0
    for k in range(TPB):
        if own[k] < mine:
            count += 1
    out[cuda.grid(1)] = count


# hazard, out-of-bounds: Takes the number in the grid for the place in the tile.
@cuda.jit
def grid_for_block(out, a):
    tile = cuda.shared.array(TPB, float32)
    i = cuda.grid(1)
    tile[i] = a[i]
    cuda.syncthreads()
    count = 0
    for k in range(TPB):
        if tile[k] < tile[i]:
            count += 1
    out[i] = count


# wrong-result, counted-itself: Lets a number count as smaller than itself.
@cuda.jit
def counted_itself(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    count = 0
    for k in range(TPB):
        if tile[k] <= tile[t]:
            count += 1
    out[i] = count


# wrong-result, larger: Compares the wrong way round.
@cuda.jit
def counted_the_larger(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    count = 0
    for k in range(TPB):
        if tile[t] < tile[k]:
            count += 1
    out[i] = count


# wrong-result, part-of-the-block: Looks at the threads before it, as last_eight_tiled does.
@cuda.jit
def looked_back_only(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    count = 0
    for k in range(t):
        if tile[k] < tile[t]:
            count += 1
    out[i] = count


# wrong-result, part-of-the-block: Looks at one warp of the two.
@cuda.jit
def looked_at_one_warp(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    count = 0
    for k in range(32):
        if tile[k] < tile[t]:
            count += 1
    out[i] = count


# over-budget, not-shared: One thread fills the tile for all.
@cuda.jit
def one_thread_fills_the_tile(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t == 0:
        for k in range(TPB):
            tile[k] = a[i + k]
    cuda.syncthreads()
    count = 0
    for k in range(TPB):
        if tile[k] < tile[t]:
            count += 1
    out[i] = count


# over-budget, not-shared: The first thread of a block does all of it.
@cuda.jit
def one_thread_of_each_block(out, a):
    tile = cuda.shared.array(TPB, float32)
    start = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        for t in range(TPB):
            tile[t] = a[start + t]
        for t in range(TPB):
            count = 0
            for k in range(TPB):
                if tile[k] < tile[t]:
                    count += 1
            out[start + t] = count
