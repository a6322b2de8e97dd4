"""Wrong answers to deterministic_sum that learners give."""

from numba import cuda, float32, float64

TPB = 64
EACH = 8
PIECE = 512
WARP = 32
WARPS = 2
FULL = 0xFFFFFFFF


# order-dependent, order-dependent: Blocks add to one place as they come.
@cuda.jit
def blocks_add_as_they_come(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    for piece in range(cuda.blockIdx.x, pieces, cuda.gridDim.x):
        rest = a[piece * PIECE + t :]
        left = size - piece * PIECE - t
        x = float32(0)
        for k in range(EACH):
            x += rest[k * TPB] if k * TPB < left else float32(0)
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.add(parts, 0, halves[0] + halves[1])
        cuda.syncthreads()


# wrong-result, other-bits: Cuts the array by the grid: other grids, other sums.
@cuda.jit
def cut_by_the_grid(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    x = float32(0)
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        x += a[i]
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        parts[cuda.blockIdx.x] = halves[0] + halves[1]


# wrong-result, pieces-left-out: Does one piece for each block, and there are more pieces than
# blocks.
@cuda.jit
def one_piece_for_each_block(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    last = min(pieces, cuda.gridDim.x)
    for piece in range(cuda.blockIdx.x, last, cuda.gridDim.x):
        rest = a[piece * PIECE + t :]
        left = size - piece * PIECE - t
        x = float32(0)
        for k in range(EACH):
            x += rest[k * TPB] if k * TPB < left else float32(0)
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            parts[piece] = halves[0] + halves[1]
        cuda.syncthreads()


# hazard, race: Reads the other warp's half before it is there.
@cuda.jit
def no_barrier(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    for piece in range(cuda.blockIdx.x, pieces, cuda.gridDim.x):
        rest = a[piece * PIECE + t :]
        left = size - piece * PIECE - t
        x = float32(0)
        for k in range(EACH):
            x += rest[k * TPB] if k * TPB < left else float32(0)
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        if t == 0:
            parts[piece] = halves[0] + halves[1]
        cuda.syncthreads()


# hazard, race: Fills the two halves again while they are still read.
@cuda.jit
def one_barrier_in_the_loop(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    for piece in range(cuda.blockIdx.x, pieces, cuda.gridDim.x):
        rest = a[piece * PIECE + t :]
        left = size - piece * PIECE - t
        x = float32(0)
        for k in range(EACH):
            x += rest[k * TPB] if k * TPB < left else float32(0)
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            parts[piece] = halves[0] + halves[1]


# wrong-result, parts-left-out, for sum_parts: Adds up as many parts as the block has threads.
@cuda.jit
def only_so_many_parts(out, parts, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    x = float32(0)
    if t < pieces:
        x = parts[t]
    step = WARP // 2
    while step > 0:
        x += cuda.shfl_down_sync(FULL, x, step)
        step //= 2
    if cuda.laneid == 0:
        halves[t // WARP] = x
    cuda.syncthreads()
    if t == 0:
        out[0] = halves[0] + halves[1]


# over-budget, over-budget: Hopes that enough digits make the order unimportant.
@cuda.jit
def in_double(parts, a, size, pieces):
    halves = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    for piece in range(cuda.blockIdx.x, pieces, cuda.gridDim.x):
        x = float64(0)
        for i in range(piece * PIECE + t, min((piece + 1) * PIECE, size), TPB):
            x += a[i]
        step = WARP // 2
        while step > 0:
            x += cuda.shfl_down_sync(FULL, x, step)
            step //= 2
        if cuda.laneid == 0:
            halves[t // WARP] = x
        cuda.syncthreads()
        if t == 0:
            parts[piece] = halves[0] + halves[1]
        cuda.syncthreads()


# over-budget, not-shared: One thread adds up each piece.
@cuda.jit
def one_thread_for_each_piece(parts, a, size, pieces):
    if cuda.threadIdx.x == 0:
        for piece in range(cuda.blockIdx.x, pieces, cuda.gridDim.x):
            x = float32(0)
            for i in range(piece * PIECE, min((piece + 1) * PIECE, size)):
                x += a[i]
            parts[piece] = x
