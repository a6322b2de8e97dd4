"""top_k: the largest numbers of a row, in one reading.

    top_k(values, places, logits, cols, k)

    values  float32 (rows, k)     to write: the k largest numbers of
                                  each row, the largest first
    places  int32 (rows, k)       to write: the columns they stand in
    logits  float32 (rows, cols)  to read
    cols    int                   how many columns there are, at most
                                  MOST
    k       int                   how many are asked for, at most 32 and
                                  at most cols

Of equal numbers the one in the lower column comes first; 0 and -0 are
equal. A NaN is larger than any number, and two of them are equal.
Logits may be infinite. Each row has a block of its own. Each number of
logits comes from memory once. Each thread writes at most one cell of
each result.
"""

from numba import cuda, float32, int32, int64, uint32

TPB = 128
WARPS = 4
MOST = 2048
# answer
ALL_LANES = 0xFFFFFFFF
LARGEST = 0x7FFFFFFF
LEAST = -0x7FFFFFFFFFFFFFFF


@cuda.jit(device=True)
def key_of(x, col):
    # The larger the key, the earlier in the result.
    bits = cuda.libdevice.float_as_int(x + float32(0))
    upper = int32(bits ^ LARGEST) if bits < 0 else bits
    if x != x:
        upper = int32(LARGEST)
    return (int64(upper) << int64(32)) | int64(uint32(~col))


@cuda.jit(device=True)
def sort_pairs(key, lane, size):
    # Lanes `size` apart and nearer put their keys in order, the largest
    # first where bit 2 * size of the lane is 0.
    step = size
    while step > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, key, step)
        first = (lane & step) == 0
        upwards = (lane & (2 * size)) != 0
        key = min(key, other) if first == upwards else max(key, other)
        step //= 2
    return key


# end answer


@cuda.jit
def top_k(values, places, logits, cols, k):
    # answer
    tile = cuda.shared.array((WARPS, 32), int64)
    row = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    best = int64(LEAST)
    for start in range(0, cols, TPB):
        col = uint32(start + t)
        key = int64(LEAST)
        if col < cols:
            key = key_of(logits[row, col], col)
        if cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31)):
            size = 1
            while size < 32:
                key = sort_pairs(key, lane, size)
                size *= 2
            best = max(best, cuda.shfl_xor_sync(ALL_LANES, key, 31))
            best = sort_pairs(best, lane, 16)
    tile[t // 32, lane] = best
    cuda.syncthreads()
    if t < 32:
        for warp in range(1, WARPS):
            best = max(best, tile[warp, 31 - lane])
            best = sort_pairs(best, lane, 16)
        if lane < k:
            upper = int32(best >> int64(32))
            bits = int32(upper ^ LARGEST) if upper < 0 else upper
            values[row, lane] = cuda.libdevice.int_as_float(bits)
            places[row, lane] = int32(~uint32(best))
    # end answer
