"""two_product: a product, and what rounding took from it.

    two_product(p, e, a, b, size)

    p     float32 (size,)   to write: p[i] is a[i] * b[i], rounded to
                            float32
    e     float32 (size,)   to write: e[i] is a[i] * b[i] - p[i], worked
                            out exactly and rounded once at the end
    a, b  float32 (size,)   to read
    size  int               how many products there are

Each thread makes one product. All bits of p and e count. Where the
exact difference is 0, e is 0 and not -0. Where it is too small for
float32, it is rounded to the nearest of the tiny numbers or to a zero
with its sign. Where p is infinite because the product is too large, e
is the infinity of the other sign. Where p is NaN, or infinite because
a[i] or b[i] is, e is NaN.

No float64, and no more than four operations on float32 for a product:
`cuda.fma(x, y, z)` is x * y + z, rounded once, and counts as two.
"""

from numba import cuda


@cuda.jit
def two_product(p, e, a, b, size):
    i = cuda.grid(1)
    # your code here (about 4 lines)
