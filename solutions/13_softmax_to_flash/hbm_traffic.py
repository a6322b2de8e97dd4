"""hbm_traffic: the bytes that attention moves, with scores and without.

    hbm_traffic(n, d, on_chip) -> (standard, tiled)

    n        int: rows of q, k, v and out, at least 1
    d        int: numbers in each of these rows, at least 1
    on_chip  int: bytes that a block may hold on the chip

A number has 4 bytes. Return two ints, each the bytes loaded from memory
and stored to it. No cache helps.

standard: three kernels, one after the other. The first reads q and k
and writes n * n scores. The second reads the scores and writes as many
weights. The third reads the weights and v, and writes out. Each moves
each number of its arrays once.

tiled: one kernel, for which R rows of q are a tile. The rows are shared
out, tile after tile; the last one may have fewer. Each block takes one
tile: it reads its rows of q once, then k and v from the first row to
the last. It writes its rows of out, and for each one more number, the
log-sum-exp. Scores never leave the chip.

A block holds, for each of the R rows, d numbers of q, d of the sum, and
2 more: the largest score and the sum of weights. For all of them it
holds one row of k and one of v. R is as large as fits, and never more
than n. Where not even one row fits, tiled is None.

n may be a thousand million, and the bytes have to be exact.
"""


def hbm_traffic(n, d, on_chip):
    # answer
    standard = 4 * (4 * n * d + 4 * n * n)
    rows = (on_chip // 4 - 2 * d) // (2 * d + 2)
    if rows < 1:
        return standard, None
    tiles = -(-n // rows)
    loaded = n * d + tiles * 2 * n * d
    stored = n * (d + 1)
    return standard, 4 * (loaded + stored)
    # end answer
    return None
