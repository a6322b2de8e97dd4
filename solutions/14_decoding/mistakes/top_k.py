"""Wrong answers to top_k that learners give."""

from numba import cuda, float32, int32, int64, uint32

TPB = 128
WARPS = 4
MOST = 2048
ALL_LANES = 0xFFFFFFFF
LARGEST = 0x7FFFFFFF
LEAST = -0x7FFFFFFFFFFFFFFF


@cuda.jit(device=True)
def key_of(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = int32(bits ^ LARGEST) if bits < 0 else bits
    if x != x:
        upper = int32(LARGEST)
    return (int64(upper) << int64(32)) | int64(uint32(~col))


@cuda.jit(device=True)
def sort_pairs(key, lane, size):
    # Lanes `size` apart and nearer put their keys in order, the largest
    # first where bit 2 * size of the lane is 0.
    step = size
    while step > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, key, step)
        first = (lane & step) == 0
        upwards = (lane & (2 * size)) != 0
        key = min(key, other) if first == upwards else max(key, other)
        step //= 2
    return key


@cuda.jit(device=True)
def higher_last(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = int32(bits ^ LARGEST) if bits < 0 else bits
    if x != x:
        upper = int32(LARGEST)
    return (int64(upper) << int64(32)) | int64(col)


@cuda.jit(device=True)
def nan_by_sign(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = int32(bits ^ LARGEST) if bits < 0 else bits
    return (int64(upper) << int64(32)) | int64(uint32(~col))


@cuda.jit(device=True)
def nan_below(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = int32(bits ^ LARGEST) if bits < 0 else bits
    if x != x:
        upper = int32(-LARGEST)
    return (int64(upper) << int64(32)) | int64(uint32(~col))


@cuda.jit(device=True)
def larger_bits(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = bits
    if x != x:
        upper = int32(LARGEST)
    return (int64(upper) << int64(32)) | int64(uint32(~col))


@cuda.jit(device=True)
def zeros_apart(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x)
    upper = int32(bits ^ LARGEST) if bits < 0 else bits
    if x != x:
        upper = int32(LARGEST)
    return (int64(upper) << int64(32)) | int64(uint32(~col))


# wrong-result, higher-column: Lets the higher column win where numbers are equal.
@cuda.jit
def higher_column(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = higher_last(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(uint32(best))


# wrong-result, negative-nan: Takes the bits of a NaN as they are.
@cuda.jit
def bits_of_nan(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = nan_by_sign(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# wrong-result, nan-last: Puts NaN behind all numbers.
@cuda.jit
def nan_last(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = nan_below(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# wrong-result, negatives-turned: Compares negative numbers by their bits.
@cuda.jit
def bits_of_negatives(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = larger_bits(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# wrong-result, two-zeros: Takes -0 for less than 0.
@cuda.jit
def two_zeros(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = zeros_apart(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# wrong-result, own-warp: Writes what the first warp has found.
@cuda.jit
def own_warp(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, 1):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# wrong-result, smallest-first: Puts the smallest of the k first.
@cuda.jit
def smallest_first(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, k - 1 - lane] = cuda.libdevice.int_as_float(bits)
            places[row, k - 1 - lane] = int32(~uint32(best))


# wrong-result, place-in-block: Takes the thread's number for the column.
@cuda.jit
def place_in_block(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], t)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# wrong-result, not-sorted: Merges lists that are not in order.
@cuda.jit
def not_sorted(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# hazard, out-of-bounds: Takes every row for a multiple of the block.
@cuda.jit
def no_guard(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# hazard, race: Reads the other warps' lists before they are there.
@cuda.jit
def no_barrier(values, places, logits, cols, k):
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))


# over-budget, over-budget: Goes through the row once for each of the k.
@cuda.jit
def k_readings(values, places, logits, cols, k):
    tile = cuda.shared.array(WARPS, int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    last = int64(0)
    for number in range(k):
        best = int64(LEAST)
        for col in range(t, cols, TPB):
            key = key_of(logits[row, col], uint32(col))
            if number == 0 or key < last:
                best = max(best, key)
        offset = 16
        while offset > 0:
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, best, offset))
            offset //= 2
        if t % 32 == 0:
            tile[t // 32] = best
        cuda.syncthreads()
        for warp in range(WARPS):
            best = max(best, tile[warp])
        cuda.syncthreads()
        last = best
        if t == number:
            place = uint32(~uint32(best))
            places[row, number] = int32(place)
            values[row, number] = logits[row, place]


# over-budget, not-shared: Lets one warp go through the whole row.
@cuda.jit
def one_warp(values, places, logits, cols, k):
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols if t < 32 else 0, 32):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    if t < 32:
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))
