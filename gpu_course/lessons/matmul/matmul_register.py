"""Puzzle `matmul_register`: 64 results in each thread's registers."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    BARRIER_FOR_ALL,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    NO_CONFLICTS,
    STORES_IN_ORDER,
    large_square,
    product,
    square_grid,
    zeros_that_meet_zeros,
)
from gpu_course.lessons.matmul.register_tiles import (
    BLOCK,
    CASES,
    CONSTANTS,
    EACH,
    EACH_ONCE,
    FROM_REGISTERS,
    RACES,
    SHARE,
    TILE,
    inputs,
    random_case,
)
from gpu_course.puzzle.builders import gives, recognise
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Launch, Mistake, Values

ZERO_LINES = (
    "a_here[i] = a[row, start + x] if inside else {}",
    "b_here[i] = b[start + i, left + t] if inside else {}",
)


def _side_by_side(inputs: Values) -> dict[str, np.ndarray]:
    """Cells that were made EACH apart and put down as a square."""
    right = product(inputs["a"], inputs["b"])
    m, n = right.shape
    out = np.full_like(right, np.nan)
    rows, cols = _made_for(m), _made_for(n)
    whole = np.zeros((max(rows) + 1, max(cols) + 1), np.float32)
    whole[:m, :n] = right
    out[...] = whole[np.ix_(rows[:m], cols[:n])]
    return {"out": out}


def _made_for(size: int) -> list[int]:
    """For each place of a side the place whose sum is put there."""
    places = np.arange(-(-size // TILE) * TILE)
    inside = places % TILE
    return [int(p) for p in places - inside + inside // EACH + inside % EACH * EACH]


DEBRIEF = Debrief(
    shows=("shared_load.requests", "shared_load.conflicts", "fma", "barriers"),
    why=(
        "For each p a thread takes 16 numbers from the tiles and makes 64 products of them: a "
        "quarter of a load for each, where matmul_tiled had two. The sums never leave the thread "
        "before they are whole."
    ),
    alternative=(
        "A thread may also have neighbours, four and four, so that it can take four numbers at "
        "once. Then lanes must be spread in another way to keep their banks apart."
    ),
)

MATMUL_REGISTER = KernelPuzzle(
    name="06_matmul/matmul_register",
    title="64 results in a thread's registers",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "The same product, and a quarter of a shared load for each multiplication. A block of EACH "
        "by EACH threads makes a square of TILE by TILE cells. Each thread makes 64 cells of the "
        "square, EACH apart along both sides, and keeps their sums to itself. For every p it takes "
        "the 8 numbers of a and the 8 of b that it needs once. No lane may wait for another's "
        "bank. NaN and infinities count as in any sum, and 0 times infinity is NaN."
    ),
    parameters={"matmul_register": ARGUMENTS},
    cases=CASES,
    random_case=random_case,
    inputs=inputs,
    large=large_square,
    launches=lambda case: (Launch("matmul_register", square_grid(case, TILE), BLOCK, ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        FROM_REGISTERS,
        LOADS_IN_ORDER,
        STORES_IN_ORDER,
        *NO_CONFLICTS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(("side-by-side", _side_by_side)),
    diagnoses={
        **RACES,
        "barrier-divergence": BARRIER_FOR_ALL,
        "out-of-bounds": (
            "A thread has 64 cells, and where the square sticks out of the matrix some of them do "
            "not exist. Each store needs its own row and its own column to be inside."
        ),
        "uninitialised-read": (
            "A number was used that nobody had put there. Which places of the tiles and of your "
            "own arrays are filled before this line, and by whom?"
        ),
        "side-by-side": (
            "The sums are right and stand in the wrong cells. Those of a thread belong EACH rows "
            "and EACH columns apart; you put them down side by side."
        ),
    },
    share=SHARE,
    hints=(
        (
            "The tiles are filled. For one p, which 8 numbers of column p of a_tile does this "
            "thread need, and which 8 of row p of b_tile? Put them into a_here and b_here."
        ),
        (
            "Sum (i, j) of a thread is row y + i * EACH and column x + j * EACH of the square. So "
            "a_here[i] comes from that row, b_here[j] from that column, and the 64 products are "
            "all pairs of the two."
        ),
        (
            "Three loops stand in the loop over p: one of length EACH that takes both numbers, and "
            "two in each other that add products. A barrier before p begins and one after it ends. "
            "The stores at the end are a pair of loops again, each cell with its guard."
        ),
    ),
    mistakes=(
        Mistake("no_barrier_before", "hazard", "race"),
        Mistake("no_barrier_behind", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("no_guard_of_the_store", "hazard", "out-of-bounds"),
        Mistake("put_down_side_by_side", "wrong-result", "side-by-side"),
        Mistake("everything_from_the_tiles", "over-budget", "over-budget"),
        Mistake("only_a_in_registers", "over-budget", "over-budget"),
        Mistake("a_square_for_each_thread", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("half_of_the_threads", "over-budget", "not-shared"),
    ),
    constants=CONSTANTS,
    equivalent_mutants={
        **zeros_that_meet_zeros("matmul_register", ZERO_LINES),
        "matmul_register:indices-swapped:sums[j, i] = float32(0)": EACH_ONCE,
    },
    source=(
        "after Simon Boehm, 'How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance', "
        "2022, https://siboehm.com/articles/22/CUDA-MMM"
    ),
)
