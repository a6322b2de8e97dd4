"""kv_append_paged: a token's keys and values into their page.

    kv_append_paged(k_cache, v_cache, k, v, page_table, length,
                    kv_heads, d)

    k_cache     float32 (pages, PAGE, kv_heads, d)   changed in place
    v_cache     float32 (pages, PAGE, kv_heads, d)   changed in place
    k, v        float32 (sequences, kv_heads, d)     to read: the newest
                                                     token's
    page_table  int32 (sequences, most)   to read: the pages of each
                                          sequence, in their order
    length      int32 (sequences,)        to read: the tokens of each
                                          sequence, the newest included
    kv_heads    int                       how many heads a token has
    d           int                       how many numbers a head has

A sequence has its tokens in pages of PAGE slots: tokens 0 to PAGE - 1
in the page that page_table names first, the next PAGE in the second,
and so on. The pages of a sequence lie anywhere in the cache, and no two
sequences share one. Past the last page that a sequence needs, its
row of page_table holds -1.

Write the newest token of each sequence, which is token length - 1, and
leave all else in the cache as it is. A row of blocks has one sequence:
blockIdx.x says which, and blockIdx.y counts its blocks. There are at
least as many threads as numbers in the heads of a token. Each thread
writes at most one cell of each cache. Each sequence has at least one
token. NaN and infinities are copied like any number.
"""

from numba import cuda, int32, uint32

TPB = 64
PAGE = 16


@cuda.jit
def kv_append_paged(
    k_cache,
    v_cache,
    k,
    v,
    page_table,
    length,
    kv_heads,
    d,
):
    sequence = uint32(cuda.blockIdx.x)
    # your code here (about 10 lines)
