"""Wrong answers to flash_attention_causal that learners give."""

import math

from numba import cuda, float32, uint32

D = 32
ROWS = 32
TILE = 32
PADDED = 33
WARPS = 8
EACH = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)


# wrong-result, top-left: Lets query i see the keys up to i, as torch does.
@cuda.jit
def corner_at_the_top_left(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane < m and start + lane <= first + top + j
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, own-key-hidden: Lets a query see only what comes before it.
@cuda.jit
def own_key_hidden(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane < first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, one-too-many: Counts the keys from 1.
@cuda.jit
def one_too_many(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n + 1)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane < m and start + lane <= first + top + j + m - n + 1
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, sees-later-keys: Turns the comparison round.
@cuda.jit
def sees_later_keys(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = m
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane < m and start + lane >= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, not-masked: Leaves hidden tiles out, and takes the others as they are.
@cuda.jit
def a_mask_for_each_tile(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane < m
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, too-few-tiles: Reads the tiles that the block's first query sees.
@cuda.jit
def ends_with_its_first_query(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + 1 + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, too-few-tiles: Rounds the number of tiles down.
@cuda.jit
def whole_tiles_alone(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n) // TILE * TILE
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, hidden-counts: Multiplies hidden scores with 0.
@cuda.jit
def hidden_score_is_zero(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else float32(0)
            s = s if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, maximum-of-hidden: Hides the weights, after the largest of all scores was found.
@cuda.jit
def maximum_of_all(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if start + lane < m else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new) if seen else float32(0)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, nan-of-hidden: Adds minus infinity to the scores that are hidden.
@cuda.jit
def adds_the_mask(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] + (float32(0) if seen else NOTHING)
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, nan-of-infinities: Begins the search for the largest with minus infinity.
@cuda.jit
def begins_with_infinity(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = NOTHING
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# wrong-result, no-key: Divides by the sum of the weights, whatever it is.
@cuda.jit
def divides_by_nothing(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total
            if lane == 0:
                lse[row] = most[j] + math.log(total)


# hazard, barrier-divergence: Lets each warp stop after the last tile of its own queries.
@cuda.jit
def an_end_for_each_warp(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + top + EACH + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# hazard, race: Brings the next tile while other warps still read this one.
@cuda.jit
def no_barrier_before_the_next_tile(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# hazard, out-of-bounds: Takes every tile for a full one.
@cuda.jit
def no_guard(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane]
            values[j] = v[key, lane]
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# over-budget, over-budget: Goes through all tiles, and hides what must not be seen.
@cuda.jit
def reads_hidden_tiles(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = m
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING


# over-budget, not-shared: Lets one lane store all channels of a query.
@cuda.jit
def one_lane_stores(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, PADDED), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        cuda.syncwarp()
        if row < n:
            p_tile[top + j, lane] = sums[j] / total if some else float32(0)
        cuda.syncwarp()
        if row < n:
            if lane == 0:
                for c in range(D):
                    out[row, c] = p_tile[top + j, c]
                lse[row] = most[j] + math.log(total) if some else NOTHING


# over-budget, over-budget: Gives the tile of keys rows of D numbers.
@cuda.jit
def tile_not_padded(out, lse, q, k, v, n, m, scale):
    q_tile = cuda.shared.array((ROWS, D), float32)
    k_tile = cuda.shared.array((TILE, D), float32)
    v_tile = cuda.shared.array((TILE, D), float32)
    p_tile = cuda.shared.array((ROWS, TILE), float32)
    most = cuda.local.array(EACH, float32)
    part = cuda.local.array(EACH, float32)
    sums = cuda.local.array(EACH, float32)
    lane = uint32(cuda.threadIdx.x) % 32
    top = uint32(cuda.threadIdx.x) // 32 * EACH
    first = uint32(cuda.blockIdx.x) * ROWS
    score = cuda.local.array(EACH, float32)
    keys = cuda.local.array(EACH, float32)
    values = cuda.local.array(EACH, float32)
    for j in range(EACH):
        row = first + top + j
        inside = row < n
        q_tile[top + j, lane] = q[row, lane] * scale if inside else float32(0)
        most[j] = LOWEST
        part[j] = float32(0)
        sums[j] = float32(0)
    end = min(m, first + ROWS + m - n)
    start = 0
    while start < end:
        for j in range(EACH):
            key = uint32(start + top + j)
            keys[j] = k[key, lane] if key < m else float32(0)
            values[j] = v[key, lane] if key < m else float32(0)
        cuda.syncthreads()
        for j in range(EACH):
            k_tile[top + j, lane] = keys[j]
            v_tile[top + j, lane] = values[j]
            score[j] = float32(0)
        cuda.syncthreads()
        for c in range(D):
            x = k_tile[lane, c]
            for j in range(EACH):
                score[j] += q_tile[top + j, c] * x
        for j in range(EACH):
            seen = start + lane <= first + top + j + m - n
            s = score[j] if seen else NOTHING
            new = s
            for bit in range(5):
                other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
                new = max(new, other)
            new = max(new, most[j])
            p = math.exp(s - new)
            shrink = math.exp(most[j] - new)
            p_tile[top + j, lane] = p
            part[j] = part[j] * shrink + p
            sums[j] *= shrink
            most[j] = new
        cuda.syncwarp()
        for key in range(TILE):
            x = v_tile[key, lane]
            for j in range(EACH):
                sums[j] += p_tile[top + j, key] * x
        start += TILE
    for j in range(EACH):
        total = part[j]
        for bit in range(5):
            total += cuda.shfl_xor_sync(ALL_LANES, total, 1 << bit)
        some = total != float32(0)
        row = first + top + j
        if row < n:
            out[row, lane] = sums[j] / total if some else float32(0)
            if lane == 0:
                lse[row] = most[j] + math.log(total) if some else NOTHING
