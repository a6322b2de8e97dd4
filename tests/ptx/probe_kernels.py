"""Kernels of one line for each operation, for numbers at which arithmetic goes wrong first.

The kernels of the course never divide a negative number or shift by forty. These do, each for
arrays of several types. `n` takes whole numbers and `f` floats, a row for each operation.
"""

import math

from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64


@cuda.jit
def of_whole(n, f, a, b):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        y = b[i]
        n[0, i] = x + y
        n[1, i] = x - y
        n[2, i] = x * y
        n[3, i] = x & y
        n[4, i] = x | y
        n[5, i] = x ^ y
        n[6, i] = -x
        n[7, i] = ~x
        n[8, i] = abs(x)
        n[9, i] = min(x, y)
        n[10, i] = max(x, y)
        n[11, i] = 1 if x < y else 0
        n[12, i] = 1 if x >= y else 0
        n[13, i] = 1 if x == y else 0
        n[14, i] = x * 3 - y
        n[15, i] = 1 if x > -1 else 0
        if y != 0:
            n[16, i] = x // y
            n[17, i] = x % y
            f[0, i] = x / y
        n[18, i] = x // 7
        n[19, i] = x % 7
        n[20, i] = x // 8
        n[21, i] = x % -8
        n[22, i] = x if y else -1
        n[23, i] = not x
        f[1, i] = x + 0.5
        f[2, i] = x * float32(3)


@cuda.jit
def shifted(n, a, b):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        y = b[i]
        n[0, i] = x << y
        n[1, i] = x >> y
        n[2, i] = x << 33
        n[3, i] = x >> 31
        n[4, i] = cuda.popc(int64(x))
        n[5, i] = cuda.clz(int32(x))
        n[6, i] = cuda.brev(uint32(x))
        n[7, i] = cuda.ffs(int32(x))


@cuda.jit
def of_floats(n, f, a, b):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        y = b[i]
        f[0, i] = x + y
        f[1, i] = x - y
        f[2, i] = x * y
        f[3, i] = x / y
        f[4, i] = x * y + x
        f[5, i] = x - y * y
        f[6, i] = min(x, y)
        f[7, i] = max(x, y)
        f[8, i] = -x
        f[9, i] = abs(x)
        f[10, i] = math.sqrt(abs(x))
        f[11, i] = math.floor(x)
        f[12, i] = math.ceil(x)
        f[13, i] = math.trunc(x)
        f[14, i] = math.copysign(x, y)
        f[15, i] = x if x < y else y
        f[16, i] = x * 3
        f[17, i] = x + 0.1
        f[18, i] = float32(x)
        f[19, i] = cuda.fma(x, y, y)
        f[20, i] = x * y - 1
        f[21, i] = min(x, y, float32(1))
        n[0, i] = x < y
        n[1, i] = x <= y
        n[2, i] = x == y
        n[3, i] = x != y
        n[4, i] = not x > y
        n[5, i] = math.isnan(x)
        n[6, i] = math.isinf(x)
        n[7, i] = 1 if x else 0
        n[8, i] = not (x < y or x > y)


@cuda.jit
def converted(n, f, a):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        n[0, i] = int8(x)
        n[1, i] = int16(x)
        n[2, i] = int32(x)
        n[3, i] = int64(x)
        n[4, i] = uint8(x)
        n[5, i] = uint16(x)
        n[6, i] = uint32(x)
        n[7, i] = uint64(x)
        n[8, i] = int(x)
        f[0, i] = float32(x)
        f[1, i] = float64(x)
        f[2, i] = float(x) if x else 0.5


@cuda.jit
def stored(bytes_, halves, words, floats, a):
    i = cuda.grid(1)
    if i < a.size:
        bytes_[i] = a[i]
        halves[i] = a[i]
        words[i] = a[i]
        floats[i] = a[i]
        floats[i] += bytes_[i] + halves[i]
        words[i] += bytes_[i] * 3


@cuda.jit
def passed_on(n, f, a, b):
    i = cuda.grid(1)
    lane = cuda.laneid
    x = a[i % a.size]
    y = b[i % b.size]
    f[0, i] = cuda.shfl_sync(-1, x, lane + 40)
    f[1, i] = cuda.shfl_up_sync(-1, x, 3)
    f[2, i] = cuda.shfl_down_sync(-1, x, 5)
    f[3, i] = cuda.shfl_xor_sync(-1, x, 9)
    n[0, i] = cuda.shfl_sync(-1, y, 7)
    n[1, i] = cuda.shfl_down_sync(-1, y, lane % 3)
    n[2, i] = cuda.ballot_sync(-1, x < 0)
    n[3, i] = cuda.any_sync(-1, x < 0)
    n[4, i] = cuda.all_sync(-1, y < 100)
    n[5, i] = cuda.eq_sync(-1, lane > 40)
    n[6, i] = cuda.match_any_sync(-1, int32(lane % 5))
    n[7, i] = cuda.syncthreads_count(1 if x < y else 0)
    n[8, i] = cuda.syncthreads_and(1 if y < 100 else 0)
    n[9, i] = cuda.syncthreads_or(1 if y > 100 else 0)
    n[10, i] = cuda.lanemask_lt()


@cuda.jit
def counted(sums, bits, found, a):
    i = cuda.grid(1)
    if i < a.size:
        found[0, i] = cuda.atomic.exch(sums, 0, a[i])
        found[1, i] = cuda.atomic.max(sums, 1, a[i])
        found[2, i] = cuda.atomic.min(sums, 2, a[i])
        found[3, i] = cuda.atomic.add(sums, 3, a[i])
        found[4, i] = cuda.atomic.sub(sums, 4, a[i])
        cuda.atomic.or_(bits, 0, uint32(i))
        cuda.atomic.xor(bits, 1, uint32(i * 7))
        cuda.atomic.and_(bits, 2, uint32(~i))
        found[5, i] = cuda.atomic.inc(bits, 3, uint32(5))
        found[6, i] = cuda.atomic.dec(bits, 4, uint32(5))
        found[7, i] = cuda.atomic.cas(bits, 5, uint32(i % 3), uint32(i * 5 % 3))


@cuda.jit
def summed(sums, found, a):
    i = cuda.grid(1)
    if i < a.size:
        found[0, i] = cuda.atomic.add(sums, 0, a[i])
        found[1, i] = cuda.atomic.sub(sums, 1, a[i])
        # A loop for Numba, in which threads overtake each other: what each finds is open.
        cuda.atomic.max(sums, 2, a[i])
        cuda.atomic.min(sums, 3, a[i])
