"""l2_tile_order: in which order tiles find the most in a cache.

    lru_hits(reads, room) -> int
    l2_tile_order(rows, cols, room) -> list of (row, col)

`lru_hits` counts how many of the reads find what they want in a cache:

    reads  list of names of what is read, in order
    room   how many of them the cache holds, 0 or more

All are equally large. What is read and not there comes in. Where there
is no room left, the one goes out whose last read was the longest ago.

`l2_tile_order` says in which order a matrix product computes the tiles
of its result, `rows` by `cols` of them. For the tile (row, col) the
GPU reads ("a", row), a strip of the left factor, and then ("b", col),
one of the right. Return every tile once, in an order with few misses
for a cache that holds `room` strips, 4 or more. The measure is an order
in groups: so many rows at a time, and each group column by column; or
the same with rows and columns the other way round. Yours passes if it
misses at most a tenth more often than the better group size of the
worse of these two. There may be no tile at all.
"""


def lru_hits(reads, room):
    # your code here (about 10 lines)
    pass


def l2_tile_order(rows, cols, room):
    # your code here (about 7 lines)
    pass
