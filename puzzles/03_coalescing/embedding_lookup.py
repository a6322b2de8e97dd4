"""embedding_lookup: a row of the table for each token.

    embedding_lookup(out, table, ids, size, dim)

    out    float32 (size, dim)    to write: out[i] = table[ids[i]]
    table  float32 (vocab, dim)   to read: a row for each word
    ids    int32 (size,)          to read: which word each token is
    size   int                    how many tokens there are
    dim    int                    how many numbers a row has

There is a thread for each token, in blocks of TPB threads. Each warp
writes the rows of its own 32 tokens. Neighbouring lanes must touch
neighbours in memory: no load and no store may touch more sectors than
it has to. table may hold NaN and infinities as well.
"""

from numba import cuda, float32

TPB = 64
WARP = 32


@cuda.jit
def embedding_lookup(out, table, ids, size, dim):
    # your code here (about 14 lines)
    pass
