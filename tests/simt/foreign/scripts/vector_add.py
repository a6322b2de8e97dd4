"""Adds two vectors: once with a grid computed by hand, once with forall, once from host arrays."""

import numpy as np
from numba import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


n = 1000
rng = np.random.default_rng(1)
a, b = rng.random(n), rng.random(n)
d_a, d_b = cuda.to_device(a), cuda.to_device(b)
d_out = cuda.device_array_like(d_a)
print("before:", np.isnan(d_out.copy_to_host()).all())

threads = 128
blocks = (n + threads - 1) // threads
add[blocks, threads](d_a, d_b, d_out)
print("grid:", np.array_equal(d_out.copy_to_host(), a + b))

again = cuda.device_array(n)
add.forall(n)(d_a, d_b, again)
print("forall:", np.array_equal(again.copy_to_host(), a + b))

plain = np.zeros(n)
add[blocks, threads](a, b, plain)
print("host arrays:", np.array_equal(plain, a + b))
