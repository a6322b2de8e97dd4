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
# your code here (about 5 lines)


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
    # your code here (about 71 lines)
    pass
