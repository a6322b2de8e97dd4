"""Wrong answers to hbm_traffic that learners give."""


def _standard(n, d):
    return 16 * (n * d + n * n)


def _rows(n, d, on_chip):
    return min(n, (on_chip // 4 - 2 * d) // (2 * d + 2))


def _tiled(n, d, rows):
    if rows < 1:
        return None
    tiles = -(-n // rows)
    return 4 * (n * d + tiles * 2 * n * d + n * (d + 1))


# wrong-result, in-numbers: So many numbers travel.
def numbers_for_bytes(n, d, on_chip):
    tiled = _tiled(n, d, _rows(n, d, on_chip))
    return _standard(n, d) // 4, None if tiled is None else tiled // 4


# wrong-result, scores-once: An array travels once.
def scores_travel_once(n, d, on_chip):
    return 4 * (4 * n * d + 2 * n * n), _tiled(n, d, _rows(n, d, on_chip))


# wrong-result, v-forgotten: The last kernel reads the weights and writes out.
def forgets_v(n, d, on_chip):
    return 4 * (3 * n * d + 4 * n * n), _tiled(n, d, _rows(n, d, on_chip))


# wrong-result, half-tile: Part of a tile is part of the traffic.
def a_part_of_a_tile(n, d, on_chip):
    rows = _rows(n, d, on_chip)
    if rows < 1:
        return _standard(n, d), None
    return _standard(n, d), 4 * (n * d + 2 * n * d * n // rows + n * (d + 1))


# wrong-result, whole-tiles: All tiles are alike.
def all_tiles_are_full(n, d, on_chip):
    rows = _rows(n, d, on_chip)
    if rows < 1:
        return _standard(n, d), None
    tiles = -(-n // rows)
    each = rows * d + 2 * n * d + rows * (d + 1)
    return _standard(n, d), 4 * tiles * each


# wrong-result, rows-once: What has been read once is there.
def keys_once(n, d, on_chip):
    rows = _rows(n, d, on_chip)
    tiled = None if rows < 1 else 4 * (3 * n * d + n * (d + 1))
    return _standard(n, d), tiled


# wrong-result, each-row: Every query looks at every key.
def keys_for_each_row(n, d, on_chip):
    tiled = None if _rows(n, d, on_chip) < 1 else _tiled(n, d, 1)
    return _standard(n, d), tiled


# wrong-result, no-lse: The result of attention is out.
def forgets_the_log_sum_exp(n, d, on_chip):
    tiled = _tiled(n, d, _rows(n, d, on_chip))
    return _standard(n, d), None if tiled is None else tiled - 4 * n


# wrong-result, no-room-for-keys: Rows of q fill the chip.
def keys_pass_through(n, d, on_chip):
    return _standard(n, d), _tiled(n, d, min(n, on_chip // 4 // (2 * d + 2)))


# wrong-result, no-room-for-sums: A row is its q.
def only_q_is_held(n, d, on_chip):
    return _standard(n, d), _tiled(n, d, min(n, (on_chip // 4 - 2 * d) // d))


# wrong-result, more-than-there-are: There is room for at least one row.
def always_one_row(n, d, on_chip):
    return _standard(n, d), _tiled(n, d, max(1, _rows(n, d, on_chip)))


# wrong-result, theorem: The paper says n² d² / M.
def as_the_theorem_says(n, d, on_chip):
    return 4 * (n * d + n * n), 4 * n * n * d * d // max(1, on_chip // 4)


# wrong-result, in-floats: Rounds up by math.ceil, and multiplies what comes.
def in_floats(n, d, on_chip):
    rows = _rows(n, d, on_chip)
    if rows < 1:
        return _standard(n, d), None
    moved = 4.0 * (n * d + -(-n // rows) * 2.0 * n * d + n * (d + 1))
    return int(16.0 * n * (d + n)), int(moved)
