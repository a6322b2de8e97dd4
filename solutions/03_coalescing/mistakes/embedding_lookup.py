"""Wrong answers to embedding_lookup that learners give."""

from numba import cuda

TPB = 64
WARP = 32


# over-budget, over-budget: A thread for a token: the obvious kernel.
@cuda.jit
def a_thread_for_a_token(out, table, ids, size, dim):
    token = cuda.grid(1)
    if token < size:
        row = ids[token]
        for col in range(dim):
            out[token, col] = table[row, col]


# over-budget, over-budget: A row for a warp, but each lane has a piece of neighbouring columns.
@cuda.jit
def a_piece_for_each_lane(out, table, ids, size, dim):
    lane = cuda.laneid
    first = cuda.grid(1) - lane
    piece = (dim + WARP - 1) // WARP
    for token in range(first, min(first + WARP, size)):
        row = ids[token]
        for col in range(lane * piece, min((lane + 1) * piece, dim)):
            out[token, col] = table[row, col]


# wrong-result, position: Takes the number of the token for the number of the word.
@cuda.jit
def position_for_the_word(out, table, ids, size, dim):
    lane = cuda.laneid
    first = cuda.grid(1) - lane
    for token in range(first, min(first + WARP, size)):
        for col in range(lane, dim, WARP):
            out[token, col] = table[token, col]


# wrong-result, word-of-the-lane: Reads the word once, before the loop: each lane has that of its
# own token.
@cuda.jit
def word_of_the_lane(out, table, ids, size, dim):
    lane = cuda.laneid
    first = cuda.grid(1) - lane
    row = ids[min(cuda.grid(1), size - 1)]
    for token in range(first, min(first + WARP, size)):
        for col in range(lane, dim, WARP):
            out[token, col] = table[row, col]


# wrong-result, tail-unwritten: Copies the columns that come in groups of 32, and no more.
@cuda.jit
def whole_groups_only(out, table, ids, size, dim):
    lane = cuda.laneid
    first = cuda.grid(1) - lane
    for token in range(first, min(first + WARP, size)):
        row = ids[token]
        for group in range(dim // WARP):
            col = group * WARP + lane
            out[token, col] = table[row, col]


# hazard, race: Lets every warp of the block begin with the block's first token.
@cuda.jit
def both_warps_on_the_same_tokens(out, table, ids, size, dim):
    lane = cuda.laneid
    first = cuda.blockIdx.x * TPB
    for token in range(first, min(first + TPB, size)):
        row = ids[token]
        for col in range(lane, dim, WARP):
            out[token, col] = table[row, col]


# hazard, out-of-bounds: Forgets that the last warp has fewer than 32 tokens.
@cuda.jit
def no_guard(out, table, ids, size, dim):
    lane = cuda.laneid
    first = cuda.grid(1) - lane
    for token in range(first, first + WARP):
        row = ids[token]
        for col in range(lane, dim, WARP):
            out[token, col] = table[row, col]


# over-budget, not-shared: One lane of each warp copies all of its rows.
@cuda.jit
def one_lane_does_it_all(out, table, ids, size, dim):
    if cuda.laneid == 0:
        first = cuda.grid(1)
        for token in range(first, min(first + WARP, size)):
            row = ids[token]
            for col in range(dim):
                out[token, col] = table[row, col]
