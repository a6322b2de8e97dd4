"""Wrong answers to matmul_vectorized that learners give."""

from numba import cuda, float32, float64, uint32

TILE = 64
K_TILE = 8
EACH = 8
TWICE = 16
FOUR = 4
HALF = 32
PADDED = TILE + 4
ONE_MORE = TILE + 1


# over-budget, over-budget: Keeps the cells 8 apart, as in matmul_register.
@cuda.jit
def eight_apart(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[y + i * EACH, x] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                b_here[i] = b_tile[p, x + i * EACH]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Turns the tile of a and does not pad it.
@cuda.jit
def no_padding(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Pads by one word, as a column of lanes wants it.
@cuda.jit
def padded_by_one(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, ONE_MORE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Leaves the tile of a as it lies in memory.
@cuda.jit
def a_not_turned(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[y + i * EACH, x] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[y * FOUR + i, p]
                a_here[FOUR + i] = a_tile[HALF + y * FOUR + i, p]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Gives each thread eight neighbours, not twice four.
@cuda.jit
def eight_neighbours(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(EACH):
                a_here[i] = a_tile[p, y * EACH + i]
                b_here[i] = b_tile[p, x * EACH + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + y * EACH + i
            col = left + x * EACH + j
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Fetches the numbers of b anew for each row.
@cuda.jit
def only_a_in_registers(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
            for i in range(EACH):
                for j in range(FOUR):
                    sums[i, j] += a_here[i] * b_tile[p, x * FOUR + j]
                for j in range(FOUR):
                    number = b_tile[p, HALF + x * FOUR + j]
                    sums[i, FOUR + j] += a_here[i] * number
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# wrong-result, still-apart: Puts the cells down 8 apart, though they were made in fours.
@cuda.jit
def put_down_apart(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# wrong-result, one-four: Takes the second four right behind the first when it puts the cells down.
@cuda.jit
def put_down_as_eight(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + y * EACH + i
            col = left + x * EACH + j
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, race: Uses the tiles at once.
@cuda.jit
def no_barrier_before(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, race: Fills the tiles again while others still use them.
@cuda.jit
def no_barrier_behind(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, out-of-bounds: Writes all 64 cells, whether out has them or not.
@cuda.jit
def no_guard(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            out[row, col] = sums[i, j]


# over-budget, over-budget: Keeps the sums in float64, to be on the safe side.
@cuda.jit
def sums_in_float64(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float64)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
                b_here[i] = b_tile[p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, not-shared: Half of the threads make 128 cells each.
@cuda.jit
def half_of_the_threads(out, a, b, m, n, k):
    a_tile = cuda.shared.array((K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, TWICE), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    b_more = cuda.local.array(TWICE, float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    t = y * EACH + x
    top = uint32(cuda.blockIdx.y) * TILE
    left = uint32(cuda.blockIdx.x) * TILE
    for i in range(EACH):
        for j in range(TWICE):
            sums[i, j] = float32(0)
    start = 0
    while start < k:
        # All 16 loads begin before the first number is waited for.
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and start + x < k
            a_here[i] = a[row, start + x] if inside else float32(0)
            inside = start + i < k and left + t < n
            b_here[i] = b[start + i, left + t] if inside else float32(0)
        for i in range(EACH):
            a_tile[x, y + i * EACH] = a_here[i]
            b_tile[i, t] = b_here[i]
        cuda.syncthreads()
        p = 0
        while p < K_TILE:
            for i in range(FOUR):
                a_here[i] = a_tile[p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[p, HALF + y * FOUR + i]
            if x < FOUR:
                for j in range(TWICE):
                    col = j // FOUR * TWICE + x * FOUR + j % FOUR
                    b_more[j] = b_tile[p, col]
                for i in range(EACH):
                    for j in range(TWICE):
                        sums[i, j] += a_here[i] * b_more[j]
            p += 1
        cuda.syncthreads()
        start += K_TILE
    for i in range(EACH):
        for j in range(TWICE):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * TWICE + x * FOUR + j % FOUR
            if x < FOUR and row < m and col < n:
                out[row, col] = sums[i, j]
