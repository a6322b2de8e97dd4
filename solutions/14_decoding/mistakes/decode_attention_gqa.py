"""Wrong answers to decode_attention_gqa that learners give."""

import math

from numba import cuda, float32, uint32

D = 32
PAGE = 16
MOST = 8
SPLIT = 4
TILE = 32
WIDE = 36
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)


# wrong-result, heads-by-remainder: Gives the query heads to the KV heads in turn.
@cuda.jit
def heads_in_turn(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(own * cuda.gridDim.y + kv_head)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, no-table: Takes the sequence's pages for the cache's first.
@cuda.jit
def no_table(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = at // PAGE
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, unscaled: Leaves the scores as they are.
@cuda.jit
def unscaled(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, one-quarter: Writes what the first warp of a head has found.
@cuda.jit
def first_warp_alone(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, 1):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, merged-as-equals: Adds the parts up as if their largest scores were one.
@cuda.jit
def merged_as_equals(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = float32(1)
            grow = float32(1)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, not-shrunk: Leaves the sum so far as it was when a larger score comes.
@cuda.jit
def not_shrunk(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, nothing-counts: Gives the missing tokens of a tile the score 0.
@cuda.jit
def nothing_counts(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else float32(0)
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# wrong-result, overflow: Takes no largest score away.
@cuda.jit
def no_largest(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score)
        shrink = float32(1)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = float32(1)
            grow = float32(1)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# hazard, out-of-bounds: Takes the last tile for a full one.
@cuda.jit
def full_tiles(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, TILE, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# hazard, uninitialised-read: Adds up all eight values, whatever there is.
@cuda.jit
def all_eight(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# hazard, race: Fills the next tile while others still read this one.
@cuda.jit
def no_second_barrier(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# hazard, race: Reads the tile without waiting for the other warps.
@cuda.jit
def no_first_barrier(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part


# over-budget, not-shared: Lets one lane write a whole head.
@cuda.jit
def a_lane_for_a_head(out, q, k_cache, v_cache, page_table, length, scale, group):
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        sums[0, own, lane] = total / part
        cuda.syncwarp()
        if lane == 0:
            for c in range(D):
                out[sequence, head, c] = sums[0, own, c]


# over-budget, over-budget: Lets each query head read the pages for itself.
@cuda.jit
def pages_for_each_head(out, q, k_cache, v_cache, page_table, length, scale, group):
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        score = float32(0)
        if mine < count:
            at = uint32(start + mine)
            page = page_table[sequence, at // PAGE]
            for c in range(8):
                score += query[c] * k_cache[page, at % PAGE, kv_head, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                at = uint32(start + 8 * split + j)
                page = page_table[sequence, at // PAGE]
                total += share * v_cache[page, at % PAGE, kv_head, lane]
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part
