"""Puzzle `matmul_tiled`: a matrix product through tiles, with ragged edges."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    BARRIER_FOR_ALL,
    LAST_STEPS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    ROUNDS,
    TILE,
    TWO_GUARDS,
    ZEROS,
    drawn_sides,
    large_square,
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
    gives,
    recognise,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Budget, Debrief, KernelPuzzle, Launch, Mistake

ZERO_LINES = (
    "a_tile[y, x] = a[row, start + x] if a_here else {}",
    "b_tile[y, x] = b[start + y, col] if b_here else {}",
)

DEBRIEF = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "fma"),
    why=(
        "A number that a block has brought is used by TILE threads, so global memory is asked for "
        "it once where it was asked TILE times. At the border a place without a number adds "
        "nothing to any sum."
    ),
    alternative=(
        "A sum that stops at the end of the matrix, in place of zeros in the tile, is as good. So "
        "are tiles that are longer along p than the square is wide."
    ),
)

MATMUL_TILED = KernelPuzzle(
    name="06_matmul/matmul_tiled",
    title="a matrix product through tiles",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "The same product. A block of TILE by TILE threads makes a square of out, and each thread "
        "writes at most one cell. The block brings its rows of a and its columns of b through two "
        "tiles and loads each number once. The sides are any numbers, and no lane may wait for "
        "another's bank. NaN and infinities count as in any sum, and 0 times infinity is NaN."
    ),
    parameters={"matmul_tiled": ARGUMENTS},
    cases=(
        sides("visible example", 20, 40, 24, visible=True),
        sides("one cell", 1, 1, 3),
        sides("a cell more than whole tiles", 17, 33, 17),
        sides("exactly two tiles, large numbers", 16, 16, 32, doublings=30),
        sides("tall and deep", 45, 5, 60),
        sides("infinities, a NaN and zeros", 5, 18, 19, infinite=1),
    ),
    random_case=drawn_sides((5, 30), (5, 40), (5, 25)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", a="m k", b="k n"), infinite=put_special_numbers("a", "b")
    ),
    large=large_square,
    launches=lambda case: (Launch("matmul_tiled", square_grid(case), (TILE, TILE), ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: tile_bytes(case),
            "A row of a is wanted by every column of the block's square. It should come from "
            "global memory once for the block, and the rest is what tiles are for.",
            "bytes loaded from global memory",
        ),
        LOADS_IN_ORDER,
        *NO_CONFLICTS,
        ROUNDS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(
        (
            "last-steps",
            lambda a, b, k: product(a[:, : k // TILE * TILE], b[: k // TILE * TILE]),
        ),
    ),
    diagnoses={
        "race": (
            "A number of a tile was used before it was surely there, or replaced before everyone "
            "had used it. A loop comes round: what follows its last line?"
        ),
        "race in global memory": (
            "Two threads met at one cell of global memory. Which cell of out does a thread have?"
        ),
        "barrier-divergence": BARRIER_FOR_ALL,
        "uninitialised-read": ZEROS,
        "out-of-bounds": TWO_GUARDS,
        "last-steps": LAST_STEPS,
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "A loop over the tiles, and in each round what lesson 04 did once: bring, wait, use. "
            "Each thread brings one number of a and one of b."
        ),
        (
            "In the tile of a the row is the thread's row of out, and the column moves with the "
            "loop. In the tile of b it is the other way round. In both, x runs along the rows."
        ),
        (
            "Where row, column or p lies outside, put a float32(0) into the tile. Then each round "
            "adds TILE products, and one barrier stands before them and one behind. Only the "
            "store to out asks for row and col."
        ),
    ),
    mistakes=(
        Mistake("no_barrier_before", "hazard", "race"),
        Mistake("no_barrier_behind", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("no_zeros", "hazard", "uninitialised-read"),
        Mistake("no_guard_along_p", "hazard", "out-of-bounds"),
        Mistake("whole_tiles_only", "wrong-result", "last-steps"),
        Mistake("no_tile_at_all", "over-budget", "over-budget"),
        Mistake("tile_of_a_turned", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_row_of_threads_brings_a", "over-budget", "not-shared"),
    ),
    constants={"TILE": TILE},
    equivalent_mutants=zeros_that_meet_zeros("matmul_tiled", ZERO_LINES),
    source="after the matrix product of NVIDIA's CUDA C++ Programming Guide, shared memory",
)
