"""Wrong answers to matmul_register that learners give."""

from numba import cuda, float32, float64

TILE = 64
K_TILE = 8
EACH = 8
TWICE = 16


# hazard, race: Uses the tiles at once.
@cuda.jit
def no_barrier_before(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                b_here[i] = b_tile[p, x + i * EACH]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, race: Fills the tiles again while others still use them.
@cuda.jit
def no_barrier_behind(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                b_here[i] = b_tile[p, x + i * EACH]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, barrier-divergence: Lets only those threads wait and multiply that have a column of out.
@cuda.jit
def barrier_behind_the_guard(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        if left + x < n:
            cuda.syncthreads()
            for p in range(K_TILE):
                for i in range(EACH):
                    a_here[i] = a_tile[y + i * EACH, p]
                    b_here[i] = b_tile[p, x + i * EACH]
                for i in range(EACH):
                    for j in range(EACH):
                        sums[i, j] += a_here[i] * b_here[j]
            cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# hazard, out-of-bounds: Writes all 64 cells, whether out has them or not.
@cuda.jit
def no_guard_of_the_store(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                b_here[i] = b_tile[p, x + i * EACH]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            out[row, col] = sums[i, j]


# wrong-result, side-by-side: Puts the cells down as a square, though they were made EACH apart.
@cuda.jit
def put_down_side_by_side(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                b_here[i] = b_tile[p, x + i * EACH]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y * EACH + i
            col = left + x * EACH + j
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Takes a sum's numbers from the tiles each time.
@cuda.jit
def everything_from_the_tiles(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                for j in range(EACH):
                    number = a_tile[y + i * EACH, p]
                    sums[i, j] += number * b_tile[p, x + j * EACH]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Keeps the numbers of a and fetches those of b for each row again.
@cuda.jit
def only_a_in_registers(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_tile[p, x + j * EACH]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Gives each thread a square of neighbours.
@cuda.jit
def a_square_for_each_thread(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y * EACH + i, p]
                b_here[i] = b_tile[p, x * EACH + i]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y * EACH + i
            col = left + x * EACH + j
            if row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, not-shared: Half of the threads make 128 cells each.
@cuda.jit
def half_of_the_threads(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, TWICE), float32)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(TWICE, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(TWICE):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
            if x < 4:
                for j in range(TWICE):
                    b_here[j] = b_tile[p, x + j * 4]
                for i in range(EACH):
                    for j in range(TWICE):
                        sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(TWICE):
            row = top + y + i * EACH
            col = left + x + j * 4
            if x < 4 and row < m and col < n:
                out[row, col] = sums[i, j]


# over-budget, over-budget: Keeps the sums in float64, to be on the safe side.
@cuda.jit
def sums_in_float64(out, a, b, m, n, k):
    a_tile = cuda.shared.array((TILE, K_TILE), float32)
    b_tile = cuda.shared.array((K_TILE, TILE), float32)
    sums = cuda.local.array((EACH, EACH), float64)
    a_here = cuda.local.array(EACH, float32)
    b_here = cuda.local.array(EACH, float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    t = y * EACH + x
    top = cuda.blockIdx.y * TILE
    left = cuda.blockIdx.x * TILE
    for i in range(EACH):
        for j in range(EACH):
            sums[i, j] = float32(0)
    for start in range(0, k, K_TILE):
        for i in range(EACH):
            row = top + y + i * EACH
            number = float32(0)
            if row < m and start + x < k:
                number = a[row, start + x]
            a_tile[y + i * EACH, x] = number
            number = float32(0)
            if start + i < k and left + t < n:
                number = b[start + i, left + t]
            b_tile[i, t] = number
        cuda.syncthreads()
        for p in range(K_TILE):
            for i in range(EACH):
                a_here[i] = a_tile[y + i * EACH, p]
                b_here[i] = b_tile[p, x + i * EACH]
            for i in range(EACH):
                for j in range(EACH):
                    sums[i, j] += a_here[i] * b_here[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row = top + y + i * EACH
            col = left + x + j * EACH
            if row < m and col < n:
                out[row, col] = sums[i, j]
