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
    # answer
    lane = cuda.laneid
    first = cuda.grid(1) - lane
    for token in range(first, min(first + WARP, size)):
        row = ids[token]
        # Four loads that do not wait for each other are in flight.
        for start in range(lane, dim, 4 * WARP):
            kept = cuda.local.array(4, float32)
            for k in range(4):
                col = start + k * WARP
                if col < dim:
                    kept[k] = table[row, col]
            for k in range(4):
                col = start + k * WARP
                if col < dim:
                    out[token, col] = kept[k]
    # end answer
