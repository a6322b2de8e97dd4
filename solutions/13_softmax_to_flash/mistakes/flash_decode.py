"""Wrong answers to flash_decode that learners give."""

import math

from numba import cuda, float32, uint32

D = 32
TILE = 32
PADDED = 33
WARPS = 4
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
AT_ONCE = 8


# wrong-result, not-scaled: Takes the dot product for the score.
@cuda.jit
def scores_not_scaled(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane]
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# wrong-result, parts-not-weighted, for flash_decode_merge: Takes the mean of all splits.
@cuda.jit
def mean_of_the_splits(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = float32(1)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# wrong-result, lse-for-weight, for flash_decode_merge: Takes part_lse for the weight of a split.
@cuda.jit
def weighted_by_the_log(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = part_lse[split]
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# wrong-result, weighted-twice, for flash_decode_merge: Divides by nothing in the merge.
@cuda.jit
def not_divided(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# wrong-result, own-warp: Stores what the first warp has found.
@cuda.jit
def first_warp_alone(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(1):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# wrong-result, warps-not-weighted: Adds the sums of the warps as they are.
@cuda.jit
def warps_added(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = float32(1)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# wrong-result, overflow: Takes the exponentials as they are.
@cuda.jit
def no_maximum(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = float32(0)
        p = math.exp(s - new)
        shrink = float32(1)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = float32(0)
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# wrong-result, overflow, for flash_decode_merge: Takes exp(part_lse) without its largest.
@cuda.jit
def weights_as_they_are(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split])
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = math.log(part) if some else NOTHING


# wrong-result, lse-without-maximum: Forgets what was taken from the scores.
@cuda.jit
def lse_without_the_maximum(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = math.log(part) if some else NOTHING


# wrong-result, lse-without-maximum, for flash_decode_merge: Forgets what was taken from the logs.
@cuda.jit
def whole_lse_without_the_maximum(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = math.log(part) if some else NOTHING


# wrong-result, padding-counted: Fills the last tile with zeros, and forgets that exp(0) is 1.
@cuda.jit
def counts_past_the_keys(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# wrong-result, no-key: Divides by the sum of the weights, whatever it is.
@cuda.jit
def divides_by_nothing(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part
        if lane == 0:
            part_lse[split] = new + math.log(part)


# wrong-result, no-key, for flash_decode_merge: Divides by the sum of the weights, whatever it is.
@cuda.jit
def merge_divides_by_nothing(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part
    if lane == 0:
        lse[0] = most + math.log(part)


# wrong-result, nan-of-infinities: Begins the search for the largest with minus infinity.
@cuda.jit
def begins_with_infinity(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = NOTHING
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = NOTHING
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# wrong-result, nan-of-infinities, for flash_decode_merge: Begins with minus infinity.
@cuda.jit
def merge_begins_with_infinity(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = NOTHING
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# wrong-result, began-too-high, for flash_decode_merge: Begins the search for the largest with 0.
@cuda.jit
def merge_begins_with_zero(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = float32(0)
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# wrong-result, splits-left-out, for flash_decode_merge: Gives each of 32 lanes a split.
@cuda.jit
def a_split_for_each_lane(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, min(splits, 32), 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, min(splits, 32), 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    out[lane] = total / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# hazard, race: Merges the warps before all have stored what they found.
@cuda.jit
def no_barrier_before_the_merge(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# hazard, out-of-bounds: Takes every split for a full one.
@cuda.jit
def no_guard(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = (split + 1) * chunk
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# over-budget, over-budget: Reads the query's number from global memory for every key.
@cuda.jit
def the_query_from_memory(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, PADDED), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q[c] * scale * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING


# over-budget, not-shared, for flash_decode_merge: Lets the first lane store all channels.
@cuda.jit
def one_lane_stores(out, lse, part_out, part_lse, splits):
    lane = uint32(cuda.threadIdx.x)
    most = LOWEST
    for split in range(lane, splits, 32):
        most = max(most, part_lse[split])
    for bit in range(5):
        other = cuda.shfl_xor_sync(ALL_LANES, most, 1 << bit)
        most = max(most, other)
    part = float32(0)
    total = float32(0)
    for first in range(0, splits, 32):
        split = uint32(first + lane)
        weight = float32(0)
        if split < splits:
            weight = math.exp(part_lse[split] - most)
        part += weight
        for j in range(min(32, splits - first)):
            share = cuda.shfl_sync(ALL_LANES, weight, j)
            total += share * part_out[uint32(first + j), lane]
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    some = part != float32(0)
    for c in range(D):
        number = cuda.shfl_sync(ALL_LANES, total, c)
        if lane == 0:
            out[c] = number / part if some else float32(0)
    if lane == 0:
        lse[0] = most + math.log(part) if some else NOTHING


# over-budget, over-budget: Gives the tile of keys rows of D numbers.
@cuda.jit
def tile_not_padded(part_out, part_lse, q, k, v, m, chunk, scale):
    q_tile = cuda.shared.array(D, float32)
    k_tile = cuda.shared.array((WARPS, TILE, D), float32)
    found = cuda.shared.array((WARPS, D), float32)
    pairs = cuda.shared.array((2, WARPS), float32)
    lane = uint32(cuda.threadIdx.x) % 32
    warp = uint32(cuda.threadIdx.x) // 32
    split = uint32(cuda.blockIdx.x)
    here = cuda.local.array(AT_ONCE, float32)
    if warp == 0:
        q_tile[lane] = q[lane] * scale
    cuda.syncthreads()
    end = min(m, (split + 1) * chunk)
    most = LOWEST
    part = float32(0)
    total = float32(0)
    start = split * chunk + warp * TILE
    while start < end:
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = k[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                k_tile[warp, i + j, lane] = here[j]
        cuda.syncwarp()
        s = float32(0)
        for c in range(D):
            s += q_tile[c] * k_tile[warp, lane, c]
        if start + lane >= end:
            s = NOTHING
        new = s
        for bit in range(5):
            other = cuda.shfl_xor_sync(ALL_LANES, new, 1 << bit)
            new = max(new, other)
        new = max(new, most)
        p = math.exp(s - new)
        shrink = math.exp(most - new)
        part = part * shrink + p
        total *= shrink
        most = new
        for i in range(0, TILE, AT_ONCE):
            for j in range(AT_ONCE):
                key = uint32(start + i + j)
                here[j] = v[key, lane] if key < end else float32(0)
            for j in range(AT_ONCE):
                total += cuda.shfl_sync(ALL_LANES, p, i + j) * here[j]
        cuda.syncwarp()
        start += WARPS * TILE
    for bit in range(5):
        part += cuda.shfl_xor_sync(ALL_LANES, part, 1 << bit)
    found[warp, lane] = total
    if lane == 0:
        pairs[0, warp] = most
        pairs[1, warp] = part
    cuda.syncthreads()
    if warp == 0:
        new = LOWEST
        for w in range(WARPS):
            new = max(new, pairs[0, w])
        part = float32(0)
        total = float32(0)
        for w in range(WARPS):
            weight = math.exp(pairs[0, w] - new)
            part += pairs[1, w] * weight
            total += found[w, lane] * weight
        some = part != float32(0)
        part_out[split, lane] = total / part if some else float32(0)
        if lane == 0:
            part_lse[split] = new + math.log(part) if some else NOTHING
