"""tiles_and_waves: how much of a GPU a matrix product can use.

    tiles_and_waves(m, n, tile_m, tile_n, sms) -> (int, int, float)

    m, n            int, rows and columns of the result
    tile_m, tile_n  int, rows and columns of the tile that one thread
                    block makes
    sms             int, how many SMs the GPU has

Each tile is made by one block, whole, even where it sticks out of the
matrix. Each SM makes one tile at a time, and all tiles take equally
long; so they go in waves of up to `sms` tiles. Return

    how many tiles there are,
    how many waves they take,
    and the share of the work that all SMs could have done in that
    time which went into cells of the result: between 0 and 1.

All five are 1 or more. The share is not rounded.
"""


def tiles_and_waves(m, n, tile_m, tile_n, sms):
    # your code here (about 4 lines)
    pass
