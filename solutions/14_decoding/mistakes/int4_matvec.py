"""Wrong answers to int4_matvec that learners give."""

from numba import cuda, float32, uint32

TPB = 128
WARPS = 4
ROWS = 4
GROUP = 32
WORDS = 32
WIDE = 36
ALL_LANES = 0xFFFFFFFF


# wrong-result, swapped: Takes the upper half of each byte first.
@cuda.jit
def upper_half_first(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * (k ^ 1))) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, backwards: Takes the highest bits first.
@cuda.jit
def highest_first(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(28 - 4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, no-zero: Takes the numbers for weights without taking zero away.
@cuda.jit
def no_zero(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += n * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, signed: Takes the numbers from 8 on for negative ones.
@cuda.jit
def signed(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    n = n if n < float32(8) else n - float32(16)
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, eight-a-group: Finds the group as if a word were a byte.
@cuda.jit
def as_if_bytes(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 4)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 4)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, next-group: Takes the scale of the next group for the last word of one.
@cuda.jit
def next_group(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, min((word + 1) // (GROUP // 8), scale.shape[1] - 1)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, zero-unscaled: Scales the number and takes zero away afterwards.
@cuda.jit
def zero_unscaled(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n * scales[r] - zeros[r]) * tile[k, lane]
                sums[r] += part
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, zero-too-late: Takes zero times the sum of x away at the end of a word.
@cuda.jit
def zero_too_late(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                whole = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += n * tile[k, lane]
                    whole += tile[k, lane]
                sums[r] += (part - zeros[r] * whole) * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, own-lane: Writes what the first lane has found.
@cuda.jit
def own_lane(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        if lane == 0 and first + r < rows:
            out[first + r] = total


# wrong-result, weights-lost: Takes the first word of each lane for all.
@cuda.jit
def first_tile_only(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, 1):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# hazard, out-of-bounds: Forgets that the last block may have rows to spare.
@cuda.jit
def no_guard(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[first + r] = total


# hazard, race: Fills the tile anew while others still read it.
@cuda.jit
def no_second_barrier(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# over-budget, over-budget: Fetches the word again for each of its eight weights.
@cuda.jit
def word_after_word(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((packed[first + r, word] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0 and first + r < rows:
            out[first + r] = total


# over-budget, over-budget: Gives each lane one weight of a word at a time.
@cuda.jit
def weight_by_weight(out, packed, scale, zero, x, rows, cols):
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for row in range(first, min(first + ROWS, rows)):
        total = float32(0)
        for col in range(lane, cols, 32):
            n = float32((packed[row, col // 8] >> uint32(4 * (col % 8))) & uint32(15))
            weight = (n - float32(zero[row, col // GROUP])) * scale[row, col // GROUP]
            total += weight * x[col]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


# over-budget, not-shared: Lets one thread write the whole block's results.
@cuda.jit
def a_thread_for_the_block(out, packed, scale, zero, x, rows, cols):
    # Place k of eight, then the word. Rows of 36 let neighbours of x,
    # and neighbouring words of one place, share no bank.
    tile = cuda.shared.array((8, WIDE), float32)
    words = cuda.local.array(ROWS, uint32)
    scales = cuda.local.array(ROWS, float32)
    zeros = cuda.local.array(ROWS, float32)
    sums = cuda.local.array(ROWS, float32)
    found = cuda.shared.array(16, float32)
    t = uint32(cuda.threadIdx.x)
    lane = uint32(t % 32)
    first = uint32((cuda.blockIdx.x * WARPS + t // 32) * ROWS)
    for r in range(ROWS):
        sums[r] = float32(0)
    for start in range(0, uint32(cols) // 8, WORDS):
        word = uint32(start + lane)
        mine = word < uint32(cols) // 8
        for r in range(ROWS):
            if mine and first + r < rows:
                words[r] = packed[first + r, word]
                scales[r] = scale[first + r, word // (GROUP // 8)]
                zeros[r] = float32(zero[first + r, word // (GROUP // 8)])
        for i in range(t, 8 * WORDS, TPB):
            if 8 * start + i < cols:
                tile[i % 8, i // 8] = x[8 * start + i]
        cuda.syncthreads()
        for r in range(ROWS):
            if mine and first + r < rows:
                part = float32(0)
                for k in range(8):
                    n = float32((words[r] >> uint32(4 * k)) & uint32(15))
                    part += (n - zeros[r]) * tile[k, lane]
                sums[r] += part * scales[r]
        cuda.syncthreads()
    for r in range(ROWS):
        total = sums[r]
        offset = 16
        while offset > 0:
            total += cuda.shfl_xor_sync(ALL_LANES, total, offset)
            offset //= 2
        if lane == 0:
            found[t // 32 * ROWS + r] = total
    cuda.syncthreads()
    if t == 0:
        for r in range(WARPS * ROWS):
            if first + r < rows:
                out[first + r] = found[r]


# over-budget, over-budget: Gives each row a single thread.
@cuda.jit
def a_thread_for_each_row(out, packed, scale, zero, x, rows, cols):
    row = uint32(cuda.blockIdx.x * WARPS * ROWS + cuda.threadIdx.x)
    if cuda.threadIdx.x < WARPS * ROWS and row < rows:
        total = float32(0)
        for word in range(cols // 8):
            eight = packed[row, word]
            part = float32(0)
            for k in range(8):
                n = float32((eight >> uint32(4 * k)) & uint32(15))
                part += (n - float32(zero[row, word // 4])) * x[8 * word + k]
            total += part * scale[row, word // 4]
        out[row] = total
