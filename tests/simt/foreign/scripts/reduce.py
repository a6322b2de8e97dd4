"""Reductions by cuda.reduce: of host and device arrays, in part, from a start, into an array."""

import numpy as np
from numba import cuda


@cuda.reduce
def add(a, b):
    return a + b


largest = cuda.Reduce(lambda a, b: max(a, b))
values = np.random.default_rng(3).permutation(20_000).astype(np.float64)
print("sum:", add(values) == values.sum())
print("largest:", largest(cuda.to_device(values)))
print("part:", add(np.arange(10), size=4), add(np.arange(10), init=100), add(np.arange(0), init=7))
kept = cuda.device_array(2, np.int32)
kept[1] = 5
print("returns:", add(np.arange(500, dtype=np.int32), res=kept), *kept.copy_to_host())
