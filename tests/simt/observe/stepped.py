"""Small kernels to be recorded, as text: the oracle and the simulator read the same lines."""

from __future__ import annotations

from pathlib import Path

TEXT = '''"""Kernels."""

import numpy as np
from numba import cuda, float32

TPB = 8
FEW = 4


@cuda.jit
def diverge(out, a):
    i = cuda.grid(1)
    x = a[i] * 2
    if i % 3 == 0:
        x = x + 100
    elif i % 3 == 1:
        x = x - 1
        y = x * x
    else:
        y = 7
    out[i] = x


@cuda.jit
def turns(out, a, n):
    i = cuda.grid(1)
    total = 0
    for k in range(i % 4):
        if k == 2:
            continue
        total += a[(i * 3 + k) % n]
    j = i
    while j > 0:
        j = j // 2
        if j == 1:
            break
    out[i] = total + j


@cuda.jit
def tile(out, a, size):
    s = cuda.shared.array(TPB, np.int64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        s[t] = a[i]
    cuda.syncthreads()
    if i >= size:
        return
    total = s[t]
    if t > 0:
        total += s[t - 1]
    out[i] = total


@cuda.jit
def tile_without_barrier(out, a, size):
    s = cuda.shared.array(TPB, np.int64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t] = a[i]
    total = 0
    if t > 0:
        total += s[t - 1]
    out[i] = total


@cuda.jit
def past_the_end(out, a):
    i = cuda.grid(1)
    x = a[i]
    out[i] = x


@cuda.jit
def from_nowhere(out, a):
    s = cuda.shared.array(TPB, np.int64)
    t = cuda.threadIdx.x
    out[t] = s[t]


@cuda.jit
def count(bins, a):
    i = cuda.grid(1)
    cuda.atomic.add(bins, a[i] % 2, 1)


@cuda.jit
def conflicts(out, a):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t * 4] = a[t * 2]
    cuda.syncthreads()
    out[t] = s[t * 4]


@cuda.jit(device=True)
def twice(x):
    y = x + x
    return y


@cuda.jit
def calls(out, a):
    i = cuda.grid(1)
    out[i] = twice(a[i])
'''


def write_kernels(folder: Path) -> Path:
    """Returns the file of the kernels, written into a folder."""
    path = folder / "stepped_kernels.py"
    path.write_text(TEXT, encoding="utf-8")
    return path
