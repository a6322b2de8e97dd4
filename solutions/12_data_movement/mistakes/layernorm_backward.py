"""Wrong answers to layernorm_backward that learners give."""

from numba import cuda, float32, uint32

TPB = 64
WARPS = 2
KEPT = 4
ROWS = 8
ALL_LANES = 0xFFFFFFFF


# wrong-result, no-means: Takes nothing away from the gradient.
@cuda.jit
def no_means(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * g[k]
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# wrong-result, one-mean: Forgets the spread's part.
@cuda.jit
def one_mean(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# wrong-result, weight-forgotten: Takes dy for g.
@cuda.jit
def weight_forgotten(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# wrong-result, weight-in-the-sums: Adds up g in place of dy.
@cuda.jit
def weight_in_the_sums(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += g[k] * h[k]
            sums_b[k] += g[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# wrong-result, sums-of-x: Adds up dy times x.
@cuda.jit
def sums_of_x(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * (h[k] / narrow + middle)
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# wrong-result, own-warp: Uses the means of its own warp.
@cuda.jit
def own_warp(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = straight * share
        along = along * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# hazard, race: Uses one tile for all rows, with one barrier a row.
@cuda.jit
def one_tile_one_barrier(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = 0
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# hazard, race, for add_strips: Adds to dw and db from all strips, without atomics.
@cuda.jit
def strips_meet(dw, db, part_w, part_b, strips, cols):
    col = cuda.threadIdx.x
    if col < cols:
        total_w = float32(0)
        total_b = float32(0)
        for strip in range(strips):
            total_w += part_w[strip, col]
            total_b += part_b[strip, col]
        dw[col] = total_w
        db[col] = total_b


# hazard, out-of-bounds: Takes every strip for a full one.
@cuda.jit
def no_guard_of_rows(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, (strip + 1) * ROWS):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# wrong-result, last-strip-lost, for add_strips: Leaves the last strip out of the sums.
@cuda.jit
def last_strip_lost(dw, db, part_w, part_b, strips, cols):
    col = cuda.grid(1)
    if col < cols:
        total_w = float32(0)
        total_b = float32(0)
        for strip in range(strips - 1):
            total_w += part_w[strip, col]
            total_b += part_b[strip, col]
        dw[col] = total_w
        db[col] = total_b


# over-budget, over-budget: Reads x and dy again in the second pass over a row.
@cuda.jit
def reads_twice(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    sums_w = cuda.local.array(KEPT, float32)
    sums_b = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
        sums_w[k] = float32(0)
        sums_b[k] = float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            sums_w[k] += slopes[k] * h[k]
            sums_b[k] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (
                    dy[row, col] * scales[k] - straight - (x[row, col] - middle) * narrow * along
                )
    for k in range(KEPT):
        col = t + k * TPB
        if col < cols:
            part_w[strip, col] = sums_w[k]
            part_b[strip, col] = sums_b[k]


# over-budget, over-budget: Adds up in part_w and part_b themselves, row by row.
@cuda.jit
def sums_in_memory(dx, part_w, part_b, dy, x, mean, rstd, weight, rows, cols):
    tile = cuda.shared.array((2, 2, WARPS), float32)
    strip = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    scales = cuda.local.array(KEPT, float32)
    slopes = cuda.local.array(KEPT, float32)
    g = cuda.local.array(KEPT, float32)
    h = cuda.local.array(KEPT, float32)
    for k in range(KEPT):
        col = t + k * TPB
        scales[k] = weight[col] if col < cols else float32(0)
    share = float32(1) / float32(cols)
    for row in range(strip * ROWS, min((strip + 1) * ROWS, rows)):
        middle = mean[row]
        narrow = rstd[row]
        straight = float32(0)
        along = float32(0)
        for k in range(KEPT):
            col = t + k * TPB
            slopes[k] = dy[row, col] if col < cols else float32(0)
            h[k] = x[row, col] if col < cols else middle
        for k in range(KEPT):
            h[k] = (h[k] - middle) * narrow
            g[k] = slopes[k] * scales[k]
            col = t + k * TPB
            if row == strip * ROWS and col < cols:
                part_w[strip, col] = slopes[k] * h[k]
                part_b[strip, col] = slopes[k]
            elif col < cols:
                part_w[strip, col] += slopes[k] * h[k]
                part_b[strip, col] += slopes[k]
            straight += g[k]
            along += g[k] * h[k]
        offset = 16
        while offset > 0:
            straight += cuda.shfl_xor_sync(ALL_LANES, straight, offset)
            along += cuda.shfl_xor_sync(ALL_LANES, along, offset)
            offset //= 2
        half = row % 2
        if t % 32 == 0:
            tile[half, 0, t // 32] = straight
            tile[half, 1, t // 32] = along
        cuda.syncthreads()
        straight = (tile[half, 0, 0] + tile[half, 0, 1]) * share
        along = (tile[half, 1, 0] + tile[half, 1, 1]) * share
        for k in range(KEPT):
            col = t + k * TPB
            if col < cols:
                dx[row, col] = narrow * (g[k] - straight - h[k] * along)


# over-budget, not-shared, for add_strips: The first thread of the grid adds up all columns.
@cuda.jit
def one_thread_adds(dw, db, part_w, part_b, strips, cols):
    last = cols if cuda.grid(1) == 0 else 0
    for col in range(last):
        total_w = float32(0)
        total_b = float32(0)
        for strip in range(strips):
            total_w += part_w[strip, col]
            total_b += part_b[strip, col]
        dw[col] = total_w
        db[col] = total_b
