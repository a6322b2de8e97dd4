"""rope: queries and keys turned by their position.

    rope(q, k, position, cos, sin, heads, kv_heads, half)

    q         float32 (tokens, heads, 2 * half)     changed in place
    k         float32 (tokens, kv_heads, 2 * half)  changed in place
    position  int32 (tokens,)            to read: each token's place in
                                         its sequence
    cos, sin  float32 (positions, half)  to read: for each position the
                                         cosine and sine of half angles
    heads     int                        how many heads q has
    kv_heads  int                        how many heads k has
    half      int                        how many pairs a head has

A head's numbers are half pairs: number p belongs with number half + p.
With the angle p of the token's position, the pair (a, b) becomes

    (a * cos - b * sin,  b * cos + a * sin)

One launch turns q and k. A row of blocks has one token: blockIdx.x says
which, and blockIdx.y counts its blocks. There are at least as many
threads as pairs in the heads of q and k together. Each thread turns at
most one pair, so it writes at most two cells. Each number comes from
memory once. All arithmetic is float32. q and k may hold NaN and
infinities: the formula says what becomes of them.
"""

from numba import cuda, uint32

TPB = 64


@cuda.jit
def rope(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    # your code here (about 18 lines)
