"""decode_attention_gqa: a page read once for all its query heads.

    decode_attention_gqa(out, q, k_cache, v_cache, page_table, length,
                         scale, group)

    out         float32 (sequences, heads, D)   to write
    q           float32 (sequences, heads, D)   to read: one query for
                                                each head
    k_cache     float32 (pages, PAGE, kv_heads, D)   to read
    v_cache     float32 (pages, PAGE, kv_heads, D)   to read
    page_table  int32 (sequences, most)   to read: the pages of each
                                          sequence, in their order
    length      int32 (sequences,)        to read: the tokens of each
                                          sequence
    scale       float32                   what scores are multiplied by
    group       int                       how many query heads share a
                                          KV head, at most MOST

Query head h belongs to KV head h // group, as heads is
kv_heads * group. For each sequence and query head:

    score[t] = scale * (q . key of token t)
    weight   = softmax of score over the sequence's tokens
    out      = sum over t of weight[t] * value of token t

Token t lies in slot t % PAGE of page page_table[sequence, t // PAGE].
Past the last page that a sequence needs, its row of the table holds
-1, and slots past its last token hold NaN.

Each sequence and KV head has a block of its own, with SPLIT warps for
each of its query heads: blockIdx.x is the sequence, blockIdx.y the KV
head. Each thread writes at most one cell. Each key and each value comes
from memory once for its block, not once for each query head. All
arithmetic is float32. Each sequence has at least one token. A score
that is NaN or infinity makes its head NaN, and one that is -infinity
has the weight 0; if all are, the head is NaN. A NaN or an infinity
among the values stays in its channel.
"""

import math

from numba import cuda, float32, uint32

D = 32
PAGE = 16
MOST = 8
SPLIT = 4
# answer
TILE = 32
WIDE = 36
ALL_LANES = 0xFFFFFFFF
LOWEST = float32(-3.4028234663852886e38)
NOTHING = float32(-math.inf)
# end answer


@cuda.jit
def decode_attention_gqa(
    out,
    q,
    k_cache,
    v_cache,
    page_table,
    length,
    scale,
    group,
):
    # answer
    # Rows of 36: eight tokens by four channels are in 32 banks.
    keys = cuda.shared.array((TILE, WIDE), float32)
    values = cuda.shared.array((TILE, D), float32)
    sizes = cuda.shared.array((2, SPLIT, MOST), float32)
    sums = cuda.shared.array((SPLIT, MOST, D), float32)
    query = cuda.local.array(8, float32)
    sequence = uint32(cuda.blockIdx.x)
    kv_head = uint32(cuda.blockIdx.y)
    lane = uint32(cuda.threadIdx.x % 32)
    warp = uint32(cuda.threadIdx.x // 32)
    warps = uint32(SPLIT * group)
    split = uint32(warp // uint32(group))
    own = uint32(warp - split * group)
    head = uint32(kv_head * group + own)
    tokens = uint32(length[sequence])
    # A warp has eight tokens of the tile, and four lanes for each.
    mine = uint32(8 * split + lane // 4)
    for c in range(8):
        query[c] = q[sequence, head, 4 * c + lane % 4]
    most = LOWEST
    part = float32(0)
    total = float32(0)
    for start in range(0, tokens, TILE):
        count = uint32(min(uint32(TILE), uint32(tokens - start)))
        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
        cuda.syncthreads()
        score = float32(0)
        if mine < count:
            for c in range(8):
                score += query[c] * keys[mine, 4 * c + lane % 4]
        score += cuda.shfl_xor_sync(ALL_LANES, score, 1)
        score += cuda.shfl_xor_sync(ALL_LANES, score, 2)
        score = score * scale if mine < count else NOTHING
        new = max(most, score)
        offset = 4
        while offset < 32:
            new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, offset))
            offset *= 2
        weight = math.exp(score - new)
        shrink = math.exp(most - new)
        part = part * shrink + weight
        total *= shrink
        most = new
        # Here each lane is a channel.
        for j in range(8):
            share = cuda.shfl_sync(ALL_LANES, weight, 4 * j)
            if 8 * split + j < count:
                total += share * values[8 * split + j, lane]
        cuda.syncthreads()
    offset = 4
    while offset < 32:
        part += cuda.shfl_xor_sync(ALL_LANES, part, offset)
        offset *= 2
    if lane == 0:
        sizes[0, split, own] = most
        sizes[1, split, own] = part
    sums[split, own, lane] = total
    cuda.syncthreads()
    if split == 0:
        for k in range(1, SPLIT):
            other = sizes[0, k, own]
            new = max(most, other)
            shrink = math.exp(most - new)
            grow = math.exp(other - new)
            part = part * shrink + sizes[1, k, own] * grow
            total = total * shrink + sums[k, own, lane] * grow
            most = new
        out[sequence, head, lane] = total / part
    # end answer
