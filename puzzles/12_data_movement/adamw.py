"""adamw: a step of the optimizer in 28 bytes per parameter.

    adamw(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v)

    w      float32 (size,)   the parameters, changed in place
    m      float32 (size,)   the running mean of the gradient, changed
                             in place
    v      float32 (size,)   the running mean of its square, changed in
                             place
    grad   float32 (size,)   to read
    size   int               how many parameters there are
    rate   float32           the learning rate
    decay  float32           the weight decay
    eps    float32           what keeps the divisor from being 0
    fix_m  float32           1 - BETA_M ** step
    fix_v  float32           1 - BETA_V ** step

For each parameter, in this order:

    m = BETA_M * m + (1 - BETA_M) * grad
    v = BETA_V * v + (1 - BETA_V) * grad * grad
    w = w - rate * decay * w
    w = w - rate * (m / fix_m) / (sqrt(v / fix_v) + eps)

There are at least as many threads as parameters. Each thread writes at
most one cell of each array. Each of the four numbers is read once and
three are written once, 28 bytes in all, and all arithmetic is float32.
The arrays may hold NaN and infinities; v is never below 0.
"""

import math

from numba import cuda, float32

TPB = 64
BETA_M = float32(0.9)
BETA_V = float32(0.95)
# your code here (about 2 lines)


@cuda.jit
def adamw(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    # your code here (about 10 lines)
    pass
