"""Wrong answers to attention_naive that learners give."""

import math

from numba import cuda, float32, uint32

D = 32
TPB = 128
WARPS = 4
ALL_LANES = 0xFFFFFFFF
PADDED = 33
LOWEST = float32(-3.4028234663852886e38)


# wrong-result, scale-forgotten, for scores: Takes the products as they are.
@cuda.jit
def scale_forgotten(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    queries = cuda.shared.array((WARPS, D), float32)
    tile = cuda.shared.array((WARPS, 32, PADDED), float32)
    warp = t // 32
    if row >= n:
        return
    queries[warp, lane] = q[row, lane]
    for start in range(0, m, 32):
        # Lanes are channels on the way in, and keys on the way out.
        count = min(32, m - start)
        for j in range(count):
            tile[warp, j, lane] = k[uint32(start + j), lane]
        cuda.syncwarp()
        if lane < count:
            score = float32(0)
            for c in range(D):
                score += queries[warp, c] * tile[warp, lane, c]
            s[row, uint32(start + lane)] = score
        cuda.syncwarp()


# hazard, race, for scores: Takes the lanes of a warp for one.
@cuda.jit
def tile_read_at_once(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    queries = cuda.shared.array((WARPS, D), float32)
    tile = cuda.shared.array((WARPS, 32, PADDED), float32)
    warp = t // 32
    if row >= n:
        return
    queries[warp, lane] = q[row, lane] * scale
    for start in range(0, m, 32):
        # Lanes are channels on the way in, and keys on the way out.
        count = min(32, m - start)
        for j in range(count):
            tile[warp, j, lane] = k[uint32(start + j), lane]
        if lane < count:
            score = float32(0)
            for c in range(D):
                score += queries[warp, c] * tile[warp, lane, c]
            s[row, uint32(start + lane)] = score
        cuda.syncwarp()


# hazard, race, for scores: Fills the tile again without waiting for the lanes that read it.
@cuda.jit
def tile_filled_again_at_once(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    queries = cuda.shared.array((WARPS, D), float32)
    tile = cuda.shared.array((WARPS, 32, PADDED), float32)
    warp = t // 32
    if row >= n:
        return
    queries[warp, lane] = q[row, lane] * scale
    for start in range(0, m, 32):
        # Lanes are channels on the way in, and keys on the way out.
        count = min(32, m - start)
        for j in range(count):
            tile[warp, j, lane] = k[uint32(start + j), lane]
        cuda.syncwarp()
        if lane < count:
            score = float32(0)
            for c in range(D):
                score += queries[warp, c] * tile[warp, lane, c]
            s[row, uint32(start + lane)] = score


# hazard, out-of-bounds, for scores: Takes the last 32 keys for full ones.
@cuda.jit
def last_keys_taken_for_full(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    queries = cuda.shared.array((WARPS, D), float32)
    tile = cuda.shared.array((WARPS, 32, PADDED), float32)
    warp = t // 32
    if row >= n:
        return
    queries[warp, lane] = q[row, lane] * scale
    for start in range(0, m, 32):
        # Lanes are channels on the way in, and keys on the way out.
        count = 32
        for j in range(count):
            tile[warp, j, lane] = k[uint32(start + j), lane]
        cuda.syncwarp()
        if lane < count:
            score = float32(0)
            for c in range(D):
                score += queries[warp, c] * tile[warp, lane, c]
            s[row, uint32(start + lane)] = score
        cuda.syncwarp()


# over-budget, over-budget, for scores: Gives each lane a key, whose channels it reads one by one.
@cuda.jit
def down_the_keys(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < n:
        for key in range(lane, m, 32):
            score = float32(0)
            for c in range(D):
                score += q[row, c] * k[key, c]
            s[row, key] = score * scale


# over-budget, over-budget, for scores: Reads the query again for every key.
@cuda.jit
def query_read_for_each_key(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row < n:
        for key in range(m):
            part = q[row, lane] * k[key, lane] * scale
            offset = 16
            while offset > 0:
                part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
                offset //= 2
            if lane == key % 32:
                s[row, key] = part


# over-budget, over-budget, for scores: Gives each thread a query, and all of its keys.
@cuda.jit
def a_thread_for_each_query(s, q, k, n, m, scale):
    t = uint32(cuda.threadIdx.x)
    row = cuda.blockIdx.x * WARPS + t // 32
    query = cuda.local.array(D, float32)
    if cuda.blockIdx.x == 0 and t < n:
        for c in range(D):
            query[c] = q[t, c] * scale
        for key in range(m):
            score = float32(0)
            for c in range(D):
                score += query[c] * k[key, c]
            s[t, key] = score


# wrong-result, not-divided, for weights: Leaves the exponentials as they are.
@cuda.jit
def not_divided(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for key in range(lane, m, 32):
        total += math.exp(s[row, key] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most)


# wrong-result, wrong-axis, for weights: Lets the weights of a key add up to 1.
@cuda.jit
def over_the_queries(s, n, m):
    t = cuda.blockIdx.x * TPB + cuda.threadIdx.x
    for key in range(t, m, cuda.gridDim.x * TPB):
        most = LOWEST
        for row in range(n):
            most = max(most, s[row, key])
        total = float32(0)
        for row in range(n):
            total += math.exp(s[row, key] - most)
        if total == float32(0):
            total = float32(1)
        for row in range(n):
            s[row, key] = math.exp(s[row, key] - most) / total


# wrong-result, overflow, for weights: Takes the exponentials as they are.
@cuda.jit
def nothing_taken_away(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for key in range(lane, m, 32):
        total += math.exp(s[row, key])
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    part = float32(1) / (total if total != float32(0) else float32(1))
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key]) * part


# wrong-result, sum-of-a-lane, for weights: Divides by the sum of the lane's own keys.
@cuda.jit
def sum_of_the_lane(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for key in range(lane, m, 32):
        total += math.exp(s[row, key] - most)
    part = float32(1) / (total if total != float32(0) else float32(1))
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most) * part


# wrong-result, places-counted, for weights: Lets the places behind the last key count as 0.
@cuda.jit
def places_counted(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for start in range(0, m, 32):
        key = start + lane
        score = s[row, key] if key < m else float32(0)
        total += math.exp(score - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    part = float32(1) / (total if total != float32(0) else float32(1))
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most) * part


# wrong-result, empty-row, for weights: Divides by the sum of a query that has no key left.
@cuda.jit
def divides_by_nothing(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for key in range(lane, m, 32):
        total += math.exp(s[row, key] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    part = float32(1) / total
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most) * part


# over-budget, over-budget, for weights: Writes the exponentials, and divides them later.
@cuda.jit
def exponentials_written_first(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = float32(0)
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most)
        total += s[row, key]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    part = float32(1) / (total if total != float32(0) else float32(1))
    for key in range(lane, m, 32):
        s[row, key] *= part


# over-budget, over-budget, for weights: Adds up in float64.
@cuda.jit
def in_float64(s, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    most = LOWEST
    for key in range(lane, m, 32):
        most = max(most, s[row, key])
    offset = 16
    while offset > 0:
        most = max(most, cuda.shfl_xor_sync(ALL_LANES, most, offset))
        offset //= 2
    total = 0.0
    for key in range(lane, m, 32):
        total += math.exp(s[row, key] - most)
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
        offset //= 2
    part = 1 / (total if total != 0 else 1.0)
    for key in range(lane, m, 32):
        s[row, key] = math.exp(s[row, key] - most) * part


# wrong-result, value-of-the-query, for weighted_sum: Takes the value with the number of the query.
@cuda.jit
def value_of_the_query(out, s, v, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    total = float32(0)
    for start in range(0, m, 32):
        key = uint32(start + lane)
        own = s[row, key] if key < m else float32(0)
        for j in range(min(32, m - start)):
            weight = cuda.shfl_sync(ALL_LANES, own, j)
            total += weight * v[row % m, lane]
    out[row, lane] = total


# wrong-result, keys-left-out, for weighted_sum: Goes over whole tiles of keys alone.
@cuda.jit
def last_keys_left_out(out, s, v, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    if row >= n:
        return
    total = float32(0)
    for start in range(0, m // 32 * 32, 32):
        key = uint32(start + lane)
        own = s[row, key] if key < m else float32(0)
        for j in range(min(32, m - start)):
            weight = cuda.shfl_sync(ALL_LANES, own, j)
            total += weight * v[uint32(start + j), lane]
    out[row, lane] = total


# hazard, out-of-bounds, for weighted_sum: Takes the last block for a full one.
@cuda.jit
def no_guard_for_queries(out, s, v, n, m):
    t = uint32(cuda.threadIdx.x)
    lane = t % 32
    row = cuda.blockIdx.x * WARPS + t // 32
    total = float32(0)
    for start in range(0, m, 32):
        key = uint32(start + lane)
        own = s[row, key] if key < m else float32(0)
        for j in range(min(32, m - start)):
            weight = cuda.shfl_sync(ALL_LANES, own, j)
            total += weight * v[uint32(start + j), lane]
    out[row, lane] = total


# over-budget, not-shared, for weighted_sum: The first lane of each warp adds up all channels.
@cuda.jit
def one_lane_for_the_sum(out, s, v, n, m):
    t = uint32(cuda.threadIdx.x)
    row = cuda.blockIdx.x * WARPS + t // 32
    total = cuda.local.array(D, float32)
    if row < n and t % 32 == 0:
        for c in range(D):
            total[c] = float32(0)
        for key in range(m):
            own = s[row, key]
            for c in range(D):
                total[c] += own * v[key, c]
        for c in range(D):
            out[row, c] = total[c]
