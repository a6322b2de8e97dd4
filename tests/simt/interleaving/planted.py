"""Kernels with one race each, and their clean twins. Lines that matter end in a mark."""

from __future__ import annotations

TEXT = '''"""Kernels."""

from numba import cuda, float32, int64

TPB = 64


@cuda.jit
def missing_before(out, a):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]  # write
    out[t] = s[TPB - 1 - t]  # read


@cuda.jit
def with_before(out, a):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[TPB - 1 - t]


@cuda.jit
def missing_after(out, a, rounds):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(rounds):
        s[t] = a[k, t]  # write
        cuda.syncthreads()
        total += s[TPB - 1 - t]  # read
    out[t] = total


@cuda.jit
def with_after(out, a, rounds):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(rounds):
        s[t] = a[k, t]
        cuda.syncthreads()
        total += s[TPB - 1 - t]
        cuda.syncthreads()
    out[t] = total


@cuda.jit
def across_blocks(out, a):
    i = cuda.grid(1)
    a[i] = a[i] * 2  # write
    if i + 32 < a.size:
        out[i] = a[i + 32]  # read


@cuda.jit
def within_blocks(out, a):
    i = cuda.grid(1)
    a[i] = a[i] * 2
    out[i] = a[i]


@cuda.jit
def no_syncwarp(out, a):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]  # write
    out[t] = s[31 - t]  # read


@cuda.jit
def with_syncwarp(out, a):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncwarp()
    out[t] = s[31 - t]


@cuda.jit
def lost_update(count, a):
    i = cuda.grid(1)
    if a[i] > 0:
        count[0] += 1  # read and write


@cuda.jit
def atomic_update(count, a):
    i = cuda.grid(1)
    if a[i] > 0:
        cuda.atomic.add(count, 0, 1)


@cuda.jit
def no_fence(out, partial, ticket, a):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        total = 0
        for k in range(4):
            total += a[b * 4 + k]
        partial[b] = total  # write
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            whole = 0
            for k in range(cuda.gridDim.x):
                whole += partial[k]  # read
            out[0] = whole


@cuda.jit
def with_fence(out, partial, ticket, a):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        total = 0
        for k in range(4):
            total += a[b * 4 + k]
        partial[b] = total
        cuda.threadfence()
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            whole = 0
            for k in range(cuda.gridDim.x):
                whole += partial[k]
            out[0] = whole


@cuda.jit
def last_one_wins(out):
    out[0] = cuda.grid(1)  # write


@cuda.jit
def last_round_wins(out, rounds):
    for k in range(rounds):
        out[0] = cuda.grid(1) * 1000 + k  # write


@cuda.jit
def rounds_from_shared(out):
    s = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        s[0] = 3  # write
    total = 0
    for k in range(s[0]):  # read
        total += k
    out[cuda.threadIdx.x] = total


@cuda.jit
def same_value(out):
    out[0] = 7  # write


@cuda.jit
def slow_reader(out, a):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[(t + 32) % TPB]  # read
    s[t] = 0  # write


@cuda.jit
def out_of_bounds(out, a):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def float_sum(out, a):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])
'''


def line_of(kernel: str, mark: str) -> int:
    """Returns the line of a kernel that ends in a mark."""
    inside = False
    for number, line in enumerate(TEXT.splitlines(), start=1):
        inside = line.startswith(f"def {kernel}(") or (inside and not line.startswith("def "))
        if inside and line.endswith(f"# {mark}"):
            return number
    raise AssertionError(f"{kernel} has no line marked {mark}")
