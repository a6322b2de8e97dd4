"""Wrong answers to conv1d that learners give."""

from numba import cuda, float32

TPB = 64
MAX_TAPS = 16
SPAN = TPB + MAX_TAPS


# hazard, race: Multiplies before tile and weights are surely there.
@cuda.jit
def no_barrier(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, TPB + taps - 1, TPB):
        tile[k] = a[start + k] if start + k < size else float32(0)
    if t < taps:
        weights[t] = w[t]
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total


# hazard, barrier-divergence: Only those that load a weight come past the barrier.
@cuda.jit
def barrier_behind_the_guard(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, TPB + taps - 1, TPB):
        tile[k] = a[start + k] if start + k < size else float32(0)
    if t < taps:
        weights[t] = w[t]
        cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total


# hazard, uninitialised-read: Lets the last threads of a block read a halo that nobody loaded.
@cuda.jit
def no_halo(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    tile[t] = a[i] if i < size else float32(0)
    if t < taps:
        weights[t] = w[t]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total


# wrong-result, stopped-at-block: Stops at the end of the tile as if the array ended there.
@cuda.jit
def stopped_at_the_block(out, a, w, size, taps):
    tile = cuda.shared.array(TPB, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * TPB + t
    tile[t] = a[i] if i < size else float32(0)
    if t < taps:
        weights[t] = w[t]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            if t + k < TPB:
                total += weights[k] * tile[t + k]
        out[i] = total


# wrong-result, wrong-side: Loads the halo in front of the block, as a causal convolution would.
@cuda.jit
def halo_on_the_wrong_side(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, TPB + taps - 1, TPB):
        cell = start - (taps - 1) + k
        tile[k] = a[cell] if 0 <= cell < size else float32(0)
    if t < taps:
        weights[t] = w[t]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total


# hazard, out-of-bounds: Fetches the halo with a guard that forgets the end of the array.
@cuda.jit
def halo_without_a_guard(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    tile[t] = a[i] if i < size else float32(0)
    if t < taps - 1:
        tile[TPB + t] = a[start + TPB + t]
    if t < taps:
        weights[t] = w[t]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total


# wrong-result, flipped: Lays the weights down back to front.
@cuda.jit
def flipped_weights(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, TPB + taps - 1, TPB):
        tile[k] = a[start + k] if start + k < size else float32(0)
    if t < taps:
        weights[t] = w[taps - 1 - t]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total


# over-budget, over-budget: Every thread fetches the weights for itself.
@cuda.jit
def weights_from_global(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, TPB + taps - 1, TPB):
        tile[k] = a[start + k] if start + k < size else float32(0)
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += w[k] * tile[t + k]
        out[i] = total


# over-budget, over-budget: Uses the tile for the block's own cells and global memory for the
# halo.
@cuda.jit
def halo_from_global(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    if i < size:
        tile[t] = a[i]
    if t < taps:
        weights[t] = w[t]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            if i + k < size:
                if t + k < TPB:
                    total += weights[k] * tile[t + k]
                else:
                    total += weights[k] * a[i + k]
        out[i] = total


# over-budget, not-shared: The first thread of the block brings all the weights.
@cuda.jit
def one_thread_brings_the_weights(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    for k in range(t, TPB + taps - 1, TPB):
        tile[k] = a[start + k] if start + k < size else float32(0)
    if t == 0:
        for k in range(taps):
            weights[k] = w[k]
    cuda.syncthreads()
    if i < size:
        total = float32(0)
        for k in range(taps):
            total += weights[k] * tile[t + k]
        out[i] = total
