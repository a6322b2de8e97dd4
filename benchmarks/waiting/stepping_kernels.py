"""The kernels that stepping.py steps through."""

from numba import cuda, float32

TPB = 256


@cuda.jit
def tile(out, a, size):
    """Adds each cell's left neighbour, through a tile."""
    s = cuda.shared.array(TPB, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        s[t] = a[i]
    cuda.syncthreads()
    if i < size:
        total = s[t]
        if t > 0:
            total += s[t - 1]
        out[i] = total


@cuda.jit
def loop(out, a, rounds):
    """Sums strided cells, each lane another number of them."""
    i = cuda.grid(1)
    total = float32(0)
    for k in range(i % rounds):
        if k % 2 == 0:
            total += a[(i * 3 + k) % a.size]
        else:
            total -= a[k]
    out[i] = total
