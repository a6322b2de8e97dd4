"""Wrong answers to clip that learners give."""

from numba import cuda


# wrong-result, between-unwritten: Acts only where something has to change.
@cuda.jit
def nothing_in_between(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        if a[i] < low:
            out[i] = low
        elif a[i] > high:
            out[i] = high


# wrong-result, low-limit-lost: Writes if twice where the second had to be elif.
@cuda.jit
def second_if_writes_over_the_first(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        if a[i] < low:
            out[i] = low
        if a[i] > high:
            out[i] = high
        else:
            out[i] = a[i]


# wrong-result, high-limit-lost: Looks at one end only.
@cuda.jit
def only_the_low_limit(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = max(a[i], low)


# wrong-result, one-limit-everywhere: Exchanges min and max.
@cuda.jit
def minimum_with_low(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = max(min(a[i], low), high)


# wrong-result, one-limit-everywhere: Takes low for both limits.
@cuda.jit
def low_twice(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = min(max(a[i], low), low)


# wrong-result, chosen-by-sign: Takes the limits for one below 0 and one above.
@cuda.jit
def chose_the_limit_by_sign(out, a, low, high, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = min(a[i], high) if a[i] > 0 else max(a[i], low)


# hazard, out-of-bounds: Forgets the threads to spare in the last block.
@cuda.jit
def no_guard(out, a, low, high, size):
    i = cuda.grid(1)
    out[i] = min(max(a[i], low), high)


# over-budget, not-shared: One warp of each block is enough, with a loop.
@cuda.jit
def two_cells_for_half_of_the_threads(out, a, low, high, size):
    start = cuda.blockIdx.x * cuda.blockDim.x
    half = cuda.blockDim.x // 2
    t = cuda.threadIdx.x
    if t < half:
        for i in range(start + t, min(start + cuda.blockDim.x, size), half):
            out[i] = min(max(a[i], low), high)
