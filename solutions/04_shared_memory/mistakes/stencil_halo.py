"""Wrong answers to stencil_halo that learners give."""

from numba import cuda, float32

TPB = 64
SPAN = TPB + 2


# hazard, race: Uses the neighbours' cells before they are surely there.
@cuda.jit
def no_barrier(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, SPAN, TPB):
        cell = start - 1 + k
        tile[k] = a[cell] if 0 <= cell < size else float32(0)
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# hazard, barrier-divergence: The barrier stands where the two threads of the halo come past
# alone.
@cuda.jit
def barrier_in_the_halo(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    tile[t + 1] = a[i] if i < size else float32(0)
    if t == 0:
        tile[0] = a[i - 1] if i > 0 else float32(0)
    if t == TPB - 1:
        tile[TPB + 1] = a[i + 1] if i + 1 < size else float32(0)
        cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# hazard, uninitialised-read: Fills the middle of the tile and forgets both ends.
@cuda.jit
def no_halo(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    tile[t + 1] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# wrong-result, halo-of-zeros: Takes the end of a block for the end of the array.
@cuda.jit
def halo_of_zeros(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    tile[t + 1] = a[i] if i < size else float32(0)
    if t == 0:
        tile[0] = 0
        tile[TPB + 1] = 0
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# wrong-result, wrong-side: Puts the cell from the left in the place on the right, and the other
# way round.
@cuda.jit
def halo_on_the_wrong_side(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    tile[t + 1] = a[i] if i < size else float32(0)
    if t == 0:
        tile[TPB + 1] = a[i - 1] if i > 0 else float32(0)
        tile[0] = a[start + TPB] if start + TPB < size else float32(0)
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# hazard, uninitialised-read: Leaves what lies behind the last cell of the array as it was.
@cuda.jit
def nothing_behind_the_end(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, SPAN, TPB):
        cell = start - 1 + k
        if cell < 0:
            tile[k] = 0
        elif cell < size:
            tile[k] = a[cell]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# hazard, out-of-bounds: Loads the halo from beyond both ends of the array.
@cuda.jit
def halo_without_a_guard(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, SPAN, TPB):
        tile[k] = a[start - 1 + k]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# over-budget, over-budget: Reads each cell three times from global memory.
@cuda.jit
def no_tile_at_all(out, a, size):
    i = cuda.grid(1)
    if i < size:
        left = a[i - 1] if i > 0 else float32(0)
        right = a[i + 1] if i + 1 < size else float32(0)
        out[i] = left - 2 * a[i] + right


# wrong-result, forgot-offset: Forgets that the tile begins one cell to the left.
@cuda.jit
def forgot_the_offset(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, SPAN, TPB):
        cell = start + k
        tile[k] = a[cell] if cell < size else float32(0)
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]


# over-budget, not-shared: One thread of the block fills the whole tile.
@cuda.jit
def one_thread_fills_the_tile(out, a, size):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    if t == 0:
        for k in range(SPAN):
            cell = start - 1 + k
            tile[k] = a[cell] if 0 <= cell < size else float32(0)
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] - 2 * tile[t + 1] + tile[t + 2]
