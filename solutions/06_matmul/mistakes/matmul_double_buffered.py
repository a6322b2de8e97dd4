"""Wrong answers to matmul_double_buffered that learners give."""

from numba import cuda, float32, float64

TILE = 64
K_TILE = 8
EACH = 8
FOUR = 4
HALF = 32
PADDED = TILE + 4


# hazard, race: Stores the tiles and uses them at once.
@cuda.jit
def no_barrier(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, race: Never changes to the other pair of tiles.
@cuda.jit
def one_pair_of_tiles(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, race: Multiplies from the pair that is to be filled next.
@cuda.jit
def the_other_pair(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[1 - now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[1 - now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[1 - now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[1 - now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# wrong-result, one-behind: Fetches the tile that it already has.
@cuda.jit
def fetches_the_same_again(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, out-of-bounds: Looks ahead without asking whether there is anything.
@cuda.jit
def no_guard_ahead(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            if row < m:
                a_next[i] = a[row, ahead + x]
            else:
                a_next[i] = float32(0)
            if left + t < n:
                b_next[i] = b[ahead + i, left + t]
            else:
                b_next[i] = float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Waits after each use as well, as with one pair of tiles.
@cuda.jit
def two_barriers(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Takes one pair to use, one to fill, and one more to be safe.
@cuda.jit
def three_pairs_of_tiles(out, a, b, m, n, k):
    a_tile = cuda.shared.array((3, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((3, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = (now + 1) % 3
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Keeps the numbers of a and fetches those of b for each row again.
@cuda.jit
def only_a_in_registers(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            inside = row < m and ahead + x < k
            a_next[i] = a[row, ahead + x] if inside else float32(0)
            inside = ahead + i < k and left + t < n
            b_next[i] = b[ahead + i, left + t] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(EACH):
                row = i // FOUR * HALF + y * FOUR + i % FOUR
                a_here[i] = a_tile[now, p, row]
                for j in range(EACH):
                    col = j // FOUR * HALF + x * FOUR + j % FOUR
                    sums[i, j] += a_here[i] * b_tile[now, p, col]
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, not-shared: One row of threads brings all tiles but the first.
@cuda.jit
def one_row_of_threads_brings_it_all(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    a_all = cuda.local.array(TILE, float32)
    b_all = cuda.local.array(TILE, float32)
    for i in range(EACH):
        a_tile[0, x, y + i * EACH] = a_next[i]
        b_tile[0, i, t] = b_next[i]
    now = 0
    for start in range(0, k, K_TILE):
        cuda.syncthreads()
        ahead = start + K_TILE
        if y == 0:
            for i in range(TILE):
                row = top + i
                inside = row < m and ahead + x < k
                a_all[i] = a[row, ahead + x] if inside else float32(0)
                p = ahead + i // EACH
                col = left + x + i % EACH * EACH
                inside = p < k and col < n
                b_all[i] = b[p, col] if inside else float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = 1 - now
        if y == 0:
            for i in range(TILE):
                a_tile[now, x, i] = a_all[i]
                b_tile[now, i // EACH, x + i % EACH * EACH] = b_all[i]
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Keeps the sums in float64, to be on the safe side.
@cuda.jit
def sums_in_float64(out, a, b, m, n, k):
    a_tile = cuda.shared.array((2, K_TILE, PADDED), float32)
    b_tile = cuda.shared.array((2, K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float64)
    a_next = cuda.local.array(EACH, float32)
    b_next = cuda.local.array(EACH, float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        row = top + y + i * EACH
        inside = row < m and x < k
        a_next[i] = a[row, x] if inside else float32(0)
        inside = i < k and left + t < n
        b_next[i] = b[i, left + t] if inside else float32(0)
        for j in range(EACH):
            sums[i, j] = float32(0)
    now = 0
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            a_tile[now, x, y + i * EACH] = a_next[i]
            b_tile[now, i, t] = b_next[i]
        cuda.syncthreads()
        ahead = start + K_TILE
        for i in range(EACH):
            row = top + y + i * EACH
            if row < m and ahead + x < k:
                a_next[i] = a[row, ahead + x]
            else:
                a_next[i] = float32(0)
            if ahead + i < k and left + t < n:
                b_next[i] = b[ahead + i, left + t]
            else:
                b_next[i] = float32(0)
        for p in range(K_TILE):
            for i in range(FOUR):
                a_here[i] = a_tile[now, p, y * FOUR + i]
                a_here[FOUR + i] = a_tile[now, p, HALF + y * FOUR + i]
                b_here[i] = b_tile[now, p, x * FOUR + i]
                b_here[FOUR + i] = b_tile[now, p, HALF + x * FOUR + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        now = 1 - now
    for i in range(EACH):
        for j in range(EACH):
            row = top + i // FOUR * HALF + y * FOUR + i % FOUR
            col = left + j // FOUR * HALF + x * FOUR + j % FOUR
            if row < m and col < n:
                out[row, col] = sums[i, j]
