"""Wrong answers to dropout that learners give."""

from numba import cuda, float32, uint32, uint64

TPB = 64
PHILOX_A = 0xD2511F53
PHILOX_B = 0xCD9E8D57
BUMP_0 = 0x9E3779B9
BUMP_1 = 0xBB67AE85


# wrong-result, keys-not-bumped: Uses one key in all rounds.
@cuda.jit
def keys_not_bumped(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale if c[k] >= least else float32(0)


# wrong-result, nine-rounds: Counts the first round as none.
@cuda.jit
def nine_rounds(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(9):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale if c[k] >= least else float32(0)


# wrong-result, not-scaled: Forgets the scale.
@cuda.jit
def not_scaled(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] if c[k] >= least else float32(0)


# wrong-result, mask-turned: Keeps what should be dropped.
@cuda.jit
def mask_turned(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale if c[k] < least else float32(0)


# wrong-result, next-word: Takes four neighbouring cells for the words of a counter.
@cuda.jit
def neighbouring_cells(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if 4 * i + k < size:
                kept[k] = x[4 * i + k]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = 4 * i + k
            if j < size:
                out[j] = kept[k] * scale if c[k] >= least else float32(0)


# wrong-result, key-of-the-first: Uses the first half of the key twice.
@cuda.jit
def one_half_of_the_key(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key0)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale if c[k] >= least else float32(0)


# wrong-result, times-nothing: Multiplies what is dropped by 0.
@cuda.jit
def times_nothing(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale * float32(c[k] >= least)


# hazard, out-of-bounds: Forgets that the last words may have no cell.
@cuda.jit
def no_guard_of_words(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.grid(1)
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            kept[k] = float32(0)
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            out[j] = kept[k] * scale if c[k] >= least else float32(0)


# hazard, race: Every block begins with counter 0.
@cuda.jit
def counters_of_block_0(out, x, size, quarter, least, scale, key0, key1):
    i = cuda.threadIdx.x
    if i < quarter:
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale if c[k] >= least else float32(0)


# over-budget, not-shared: The first thread of a block makes all of its words.
@cuda.jit
def one_thread_of_a_block(out, x, size, quarter, least, scale, key0, key1):
    first = cuda.grid(1)
    last = min(first + TPB, quarter)
    if cuda.threadIdx.x != 0:
        last = first
    for i in range(first, last):
        kept = cuda.local.array(4, float32)
        for k in range(4):
            if i + k * quarter < size:
                kept[k] = x[i + k * quarter]
        c = cuda.local.array(4, uint32)
        c[0] = uint32(i)
        for k in range(1, 4):
            c[k] = uint32(0)
        k0 = uint32(key0)
        k1 = uint32(key1)
        for _ in range(10):
            a = uint64(PHILOX_A) * uint64(c[0])
            b = uint64(PHILOX_B) * uint64(c[2])
            c[0] = uint32(b >> uint64(32)) ^ c[1] ^ k0
            c[2] = uint32(a >> uint64(32)) ^ c[3] ^ k1
            c[1] = uint32(b)
            c[3] = uint32(a)
            k0 = uint32(k0 + uint32(BUMP_0))
            k1 = uint32(k1 + uint32(BUMP_1))
        for k in range(4):
            j = i + k * quarter
            if j < size:
                out[j] = kept[k] * scale if c[k] >= least else float32(0)
