"""Wrong answers to two_product that learners give."""

from numba import cuda, float32, float64

SPLIT = 4097


# wrong-result, rounded-twice: Takes the product from itself, and trusts that more digits are kept.
@cuda.jit
def takes_the_product_from_itself(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        product = a[i] * b[i]
        p[i] = product
        e[i] = a[i] * b[i] - product


# over-budget, over-budget: float64 holds the product of two float32 exactly.
@cuda.jit
def in_float64(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        exact = float64(a[i]) * float64(b[i])
        product = a[i] * b[i]
        p[i] = product
        e[i] = exact - product


# wrong-result, other-sign: Takes the exact product from the rounded one.
@cuda.jit
def the_other_way_round(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        product = a[i] * b[i]
        p[i] = product
        e[i] = cuda.fma(-a[i], b[i], product)


# wrong-result, zero-with-a-sign: Turns the sign at the end, and that of each zero with it.
@cuda.jit
def turns_the_sign_at_the_end(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        product = a[i] * b[i]
        p[i] = product
        e[i] = -cuda.fma(-a[i], b[i], product)


# wrong-result, split-too-large: Dekker's splitting of 1971, for machines without an fma.
@cuda.jit
def splits_as_dekker_did(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        product = a[i] * b[i]
        p[i] = product
        long_a = float32(SPLIT) * a[i]
        high_a = long_a - (long_a - a[i])
        low_a = a[i] - high_a
        long_b = float32(SPLIT) * b[i]
        high_b = long_b - (long_b - b[i])
        low_b = b[i] - high_b
        rest = high_a * high_b - product
        rest = rest + high_a * low_b
        rest = rest + low_a * high_b
        e[i] = rest + low_a * low_b


# wrong-result, added-zero: The fused product is the more exact one, so p gets it too.
@cuda.jit
def fuses_with_nothing(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        p[i] = cuda.fma(a[i], b[i], float32(0))
        e[i] = cuda.fma(a[i], b[i], -(a[i] * b[i]))


# hazard, out-of-bounds: Takes it that there is a product for each thread.
@cuda.jit
def no_guard(p, e, a, b, size):
    i = cuda.grid(1)
    product = a[i] * b[i]
    p[i] = product
    e[i] = cuda.fma(a[i], b[i], -product)


# wrong-result, held-to-finite: An error is a small number, so infinities become 0.
@cuda.jit
def keeps_infinities_out(p, e, a, b, size):
    i = cuda.grid(1)
    if i < size:
        product = a[i] * b[i]
        p[i] = product
        rest = cuda.fma(a[i], b[i], -product)
        e[i] = rest if abs(rest) < float32(1e38) else float32(0)


# over-budget, not-shared: One thread makes all of them.
@cuda.jit
def one_thread_makes_all(p, e, a, b, size):
    if cuda.grid(1) == 0:
        for i in range(size):
            product = a[i] * b[i]
            p[i] = product
            e[i] = cuda.fma(a[i], b[i], -product)
