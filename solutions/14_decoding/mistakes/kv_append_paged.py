"""Wrong answers to kv_append_paged that learners give."""

from numba import cuda, int32, uint32

TPB = 64
PAGE = 16


# wrong-result, no-table: Takes the sequence's first pages for the cache's.
@cuda.jit
def no_table(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = sequence * uint32(page_table.shape[1]) + token // PAGE
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = value


# wrong-result, no-table: Takes the number of a sequence's page for the cache's.
@cuda.jit
def own_number(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        k_cache[token // PAGE, token % PAGE, head, j] = key
        v_cache[token // PAGE, token % PAGE, head, j] = value


# wrong-result, one-too-far: Takes the length for the newest token's number.
@cuda.jit
def one_too_far(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence])
        page = page_table[sequence, token // PAGE]
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = value


# wrong-result, keys-twice: Writes the keys to both caches.
@cuda.jit
def keys_twice(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token // PAGE]
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = key


# hazard, out-of-bounds: Takes the token's number for its slot.
@cuda.jit
def number_for_slot(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token // PAGE]
        k_cache[page, token, head, j] = key
        v_cache[page, token, head, j] = value


# hazard, out-of-bounds: Looks the slot up in the table.
@cuda.jit
def slot_for_page(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token % PAGE]
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = value


# hazard, out-of-bounds: Forgets that the last block may have threads to spare.
@cuda.jit
def no_guard(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if True:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token // PAGE]
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = value


# wrong-result, first-row: Looks all sequences up in the first one's row.
@cuda.jit
def first_row(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = page_table[0, token // PAGE]
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = value


# over-budget, not-shared: Gives each head a single thread.
@cuda.jit
def a_thread_for_each_head(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    head = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    if head < kv_heads:
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token // PAGE]
        for j in range(d):
            k_cache[page, token % PAGE, head, j] = k[sequence, head, j]
            v_cache[page, token % PAGE, head, j] = v[sequence, head, j]


# over-budget, not-shared: Writes the whole page anew.
@cuda.jit
def whole_page(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(d))
    if head < kv_heads:
        j = uint32(i - head * d)
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token // PAGE]
        for slot in range(PAGE):
            key = k_cache[page, slot, head, j]
            value = v_cache[page, slot, head, j]
            if slot == token % PAGE:
                key = k[sequence, head, j]
                value = v[sequence, head, j]
            k_cache[page, slot, head, j] = key
            v_cache[page, slot, head, j] = value


# over-budget, over-budget: Gives neighbouring threads neighbouring heads.
@cuda.jit
def heads_side_by_side(k_cache, v_cache, k, v, page_table, length, kv_heads, d):
    sequence = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    j = uint32(i // uint32(kv_heads))
    if j < d:
        head = uint32(i - j * kv_heads)
        key = k[sequence, head, j]
        value = v[sequence, head, j]
        token = int32(length[sequence] - 1)
        page = page_table[sequence, token // PAGE]
        k_cache[page, token % PAGE, head, j] = key
        v_cache[page, token % PAGE, head, j] = value
