"""Wrong answers to even_odd_uniform that learners give."""

from numba import cuda

TPB = 64
TERMS = 3


# over-budget, over-budget: Says what the statement says: the cell decides.
@cuda.jit
def asked_the_cell(out, a, p, q, size):
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        if i % 2 == 0:
            result = p[0]
            for k in range(1, TERMS):
                result = result * x + p[k]
        else:
            result = q[0]
            for k in range(1, TERMS):
                result = result * x + q[k]
        out[i] = result


# over-budget, over-budget: Avoids the branch by doing the work of both arms.
@cuda.jit
def computed_both(out, a, p, q, size):
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        even = p[0]
        odd = q[0]
        for k in range(1, TERMS):
            even = even * x + p[k]
            odd = odd * x + q[k]
        out[i] = even if i % 2 == 0 else odd


# over-budget, over-budget: One polynomial, and a choice at each coefficient: both have to be
# loaded.
@cuda.jit
def chose_each_coefficient(out, a, p, q, size):
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        even = p[0]
        odd = q[0]
        result = even if i % 2 == 0 else odd
        for k in range(1, TERMS):
            even = p[k]
            odd = q[k]
            result = result * x + (even if i % 2 == 0 else odd)
        out[i] = result


# wrong-result, exchanged: Gives the even cells to the warp with q.
@cuda.jit
def exchanged(out, a, p, q, size):
    warp = cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    i = cuda.blockIdx.x * TPB + 2 * lane + warp
    if i < size:
        x = a[i]
        if warp == 1:
            result = p[0]
            for k in range(1, TERMS):
                result = result * x + p[k]
        else:
            result = q[0]
            for k in range(1, TERMS):
                result = result * x + q[k]
        out[i] = result


# wrong-result, by-warp: Makes the branch uniform and leaves the cells where they were.
@cuda.jit
def asked_the_warp_alone(out, a, p, q, size):
    warp = cuda.threadIdx.x // 32
    i = cuda.grid(1)
    if i < size:
        x = a[i]
        if warp == 0:
            result = p[0]
            for k in range(1, TERMS):
                result = result * x + p[k]
        else:
            result = q[0]
            for k in range(1, TERMS):
                result = result * x + q[k]
        out[i] = result


# wrong-result, odd-unwritten: Steps by two with the number in the block; the second warp runs
# off.
@cuda.jit
def thread_for_lane(out, a, p, q, size):
    t = cuda.threadIdx.x
    warp = t // 32
    i = cuda.blockIdx.x * TPB + 2 * t + warp
    if i < size:
        x = a[i]
        if warp == 0:
            result = p[0]
            for k in range(1, TERMS):
                result = result * x + p[k]
        else:
            result = q[0]
            for k in range(1, TERMS):
                result = result * x + q[k]
        out[i] = result


# wrong-result, backwards: Begins with the coefficient of the lowest power.
@cuda.jit
def backwards(out, a, p, q, size):
    warp = cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    i = cuda.blockIdx.x * TPB + 2 * lane + warp
    if i < size:
        x = a[i]
        if warp == 0:
            result = p[TERMS - 1]
            for k in range(1, TERMS):
                result = result * x + p[TERMS - 1 - k]
        else:
            result = q[TERMS - 1]
            for k in range(1, TERMS):
                result = result * x + q[TERMS - 1 - k]
        out[i] = result


# hazard, out-of-bounds: Forgets that the last block has threads to spare.
@cuda.jit
def no_guard(out, a, p, q, size):
    warp = cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    i = cuda.blockIdx.x * TPB + 2 * lane + warp
    x = a[i]
    if warp == 0:
        result = p[0]
        for k in range(1, TERMS):
            result = result * x + p[k]
    else:
        result = q[0]
        for k in range(1, TERMS):
            result = result * x + q[k]
    out[i] = result


# hazard, race: Warp and lane are right; every block works on the first 64 cells.
@cuda.jit
def forgot_the_block(out, a, p, q, size):
    warp = cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    i = 2 * lane + warp
    if i < size:
        x = a[i]
        if warp == 0:
            result = p[0]
            for k in range(1, TERMS):
                result = result * x + p[k]
        else:
            result = q[0]
            for k in range(1, TERMS):
                result = result * x + q[k]
        out[i] = result


# over-budget, not-shared: A single thread never parts from anybody.
@cuda.jit
def one_thread_of_each_block(out, a, p, q, size):
    start = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        for i in range(start, min(start + TPB, size)):
            x = a[i]
            if i % 2 == 0:
                result = p[0]
                for k in range(1, TERMS):
                    result = result * x + p[k]
            else:
                result = q[0]
                for k in range(1, TERMS):
                    result = result * x + q[k]
            out[i] = result
