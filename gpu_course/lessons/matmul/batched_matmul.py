"""Puzzle `batched_matmul`: the scores of attention, a matrix for each head."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    BARRIER_FOR_ALL,
    LAST_STEPS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    ROUNDS,
    TILE,
    ZEROS,
    drawn_sides,
    product,
    put_special_numbers,
    sides,
    square_grid,
    tile_bytes,
    zeros_that_meet_zeros,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    gives,
    recognise,
    with_special_numbers,
)
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Values,
)

ARGUMENTS = ("out", "q", "keys", "m", "n", "k")


def _scores(q: np.ndarray, keys: np.ndarray) -> np.ndarray:
    return product(q, keys.transpose(0, 2, 1))


def _put_special_numbers(values: Values) -> None:
    """As `put_special_numbers` does; here a column of the right matrix is a row of keys."""
    turned = values["keys"].transpose(0, 2, 1)
    put_special_numbers("q", "keys")({"q": values["q"], "keys": turned})


def _grid(case: Case) -> tuple[int, int, int]:
    return (*square_grid(case), case.sizes["batch"])


ZERO_LINES = (
    "q_tile[y, x] = q[z, row, p] if row < m and p < k else {}",
    "key_tile[y, x] = keys[z, row, p] if here else {}",
)

DEBRIEF = Debrief(
    shows=("global_load.excess_sectors", "shared_load.conflicts", "global_load.bytes"),
    why=(
        "Both inputs are read along their rows, in order, and the turning happens in a tile whose "
        "columns are spread over the banks. The third side of the grid costs nothing: a block only "
        "takes its matrix by blockIdx.z."
    ),
    alternative=(
        "The tile of keys may be turned on the way in or on the way out. A library also takes "
        "a stride for each side, so that q, k and v can be slices of one array."
    ),
    bonus=Bonus(
        "Do it without a single bank conflict in the stores, too.",
        "shared_store.conflicts",
        lambda case: 0,
    ),
)

BATCHED_MATMUL = KernelPuzzle(
    name="06_matmul/batched_matmul",
    title="the scores of attention",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "out[z, row, col] is the sum of q[z, row, p] * keys[z, col, p] over all p below k: in "
        "attention, how much query `row` has to do with key `col` in head z. The grid has one "
        "layer of blocks for each z. Each thread writes at most one cell. Load in order, each "
        "number once for a block, and let no lane wait for a bank when it reads a tile. NaN and "
        "infinities count as in any sum, and 0 times infinity is NaN."
    ),
    parameters={"batched_matmul": ARGUMENTS},
    cases=(
        sides("visible example", 20, 40, 24, visible=True, batch=2),
        sides("one cell", 1, 1, 3, batch=1),
        sides("a cell more than whole tiles", 17, 33, 17, batch=2),
        sides("exactly one tile, large numbers", 16, 16, 32, batch=2, doublings=30),
        sides("a single query, as in decoding", 1, 40, 20, batch=4),
        sides("infinities, a NaN and zeros", 5, 18, 19, batch=1, infinite=1),
    ),
    random_case=drawn_sides((5, 20), (5, 33), (17, 25), batch=(2, 3)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", q="batch m k", keys="batch n k"), infinite=_put_special_numbers
    ),
    # Queries and keys of 64 numbers, as attention's heads have; the heads are as many as it takes.
    large=lambda least_bytes: sides(
        "past L2", 128, 128, 64, batch=blocks_to_cover(least_bytes, 4 * 128 * (128 + 2 * 64))
    ),
    launches=lambda case: (Launch("batched_matmul", _grid(case), (TILE, TILE), ARGUMENTS),),
    reference=gives(_scores),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: case.sizes["batch"] * tile_bytes(case),
            "A query is wanted by every key of the block's square, and a key by every query. Each "
            "should come from global memory once for the block.",
            "bytes loaded from global memory",
        ),
        LOADS_IN_ORDER,
        NO_CONFLICTS[0],
        ROUNDS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(
        ("first-head", lambda q, keys: _scores(q, np.broadcast_to(keys[:1], keys.shape))),
        (
            "last-steps",
            lambda q, keys, k: _scores(q[..., : k // TILE * TILE], keys[..., : k // TILE * TILE]),
        ),
    ),
    diagnoses={
        "race": (
            "A number of a tile was used before it was surely there, or replaced before everyone "
            "had used it. Both barriers of matmul_tiled are needed here, too."
        ),
        "race in global memory": (
            "Two threads met at one cell of out. Which of its three indices does each take from "
            "the block, and which from the thread?"
        ),
        "barrier-divergence": BARRIER_FOR_ALL,
        "uninitialised-read": ZEROS,
        "out-of-bounds": (
            "Of keys, the middle index counts keys and ends at n, and the last one counts along a "
            "key and ends at k. Of q it is m and k. Which index has which end in your loads?"
        ),
        "first-head": (
            "All heads got the keys of head 0. Which index of keys says which head, and where does "
            "a block get its number?"
        ),
        "last-steps": LAST_STEPS,
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "It is matmul_tiled with two changes: z comes from the block, and the second matrix "
            "is stored by its columns. What does a warp read when x runs along p in both?"
        ),
        (
            "The block needs the keys from `left` on. Let thread (y, x) bring number start + x of "
            "key left + y. In the product thread (y, x) needs key x: where in the tile is that?"
        ),
        (
            "Reading place [x, i] goes down a column of the tile, and with rows of 16 the lanes "
            "meet in two banks. You know from transpose_padded how to make rows begin in different "
            "banks. Zeros, barriers and guards are those of matmul_tiled."
        ),
    ),
    mistakes=(
        Mistake("no_barrier_before", "hazard", "race"),
        Mistake("no_barrier_behind", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("no_zeros", "hazard", "uninitialised-read"),
        Mistake("keys_not_turned", "hazard", "out-of-bounds"),
        Mistake("keys_of_the_first_head", "wrong-result", "first-head"),
        Mistake("whole_tiles_only", "wrong-result", "last-steps"),
        Mistake("not_padded", "over-budget", "over-budget"),
        Mistake("turned_while_loading", "over-budget", "over-budget"),
        Mistake("no_tile_at_all", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_row_of_threads_brings_q", "over-budget", "not-shared"),
    ),
    constants={"TILE": TILE},
    equivalent_mutants=zeros_that_meet_zeros("batched_matmul", ZERO_LINES),
)
