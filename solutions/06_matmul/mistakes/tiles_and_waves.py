"""Wrong answers to tiles_and_waves that learners give."""


# wrong-result, whole-only: Rounds down, and leaves the border to nobody.
def whole_tiles_only(m, n, tile_m, tile_n, sms):
    tiles = (m // tile_m) * (n // tile_n)
    waves = -(-tiles // sms)
    return tiles, waves, m * n / max(1, waves * sms * tile_m * tile_n)


# wrong-result, by-area: Divides the area of the matrix by that of a tile.
def divides_areas(m, n, tile_m, tile_n, sms):
    tiles = -(-m * n // (tile_m * tile_n))
    waves = -(-tiles // sms)
    return tiles, waves, m * n / (waves * sms * tile_m * tile_n)


# wrong-result, last-wave: Counts full waves alone.
def leaves_the_last_wave(m, n, tile_m, tile_n, sms):
    tiles = -(-m // tile_m) * -(-n // tile_n)
    waves = tiles // sms
    return tiles, waves, m * n / max(1, waves * sms * tile_m * tile_n)


# wrong-result, tiles-alone: Thinks of the cells that stick out, and not of idle SMs.
def loses_at_the_border_only(m, n, tile_m, tile_n, sms):
    tiles = -(-m // tile_m) * -(-n // tile_n)
    waves = -(-tiles // sms)
    return tiles, waves, m * n / (tiles * tile_m * tile_n)


# wrong-result, waves-alone: Thinks of idle SMs, and not of the cells that stick out.
def loses_in_the_last_wave_only(m, n, tile_m, tile_n, sms):
    tiles = -(-m // tile_m) * -(-n // tile_n)
    waves = -(-tiles // sms)
    return tiles, waves, tiles / (waves * sms)


# wrong-result, exchanged: Lays the tile the other way round.
def tile_the_wrong_way(m, n, tile_m, tile_n, sms):
    tiles = -(-m // tile_n) * -(-n // tile_m)
    waves = -(-tiles // sms)
    return tiles, waves, m * n / (waves * sms * tile_m * tile_n)


# wrong-result, wrong-type: Divides without rounding.
def parts_of_tiles(m, n, tile_m, tile_n, sms):
    tiles = m / tile_m * n / tile_n
    waves = tiles / sms
    return tiles, waves, m * n / (waves * sms * tile_m * tile_n)
