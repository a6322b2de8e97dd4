"""Puzzle `matmul_naive`: a matrix product, a thread for each result."""

from __future__ import annotations

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    ARGUMENTS,
    LOADS_IN_ORDER,
    NO_ATOMICS,
    STORES_IN_ORDER,
    cells_of,
    drawn_sides,
    large_square,
    product,
    put_special_numbers,
    sides,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    gives,
    recognise,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Launch, Mistake

BLOCK = (32, 8)


def _grid(case: Case) -> tuple[int, int]:
    """Blocks for every cell, whichever side of out runs along x."""
    longer = max(case.sizes["m"], case.sizes["n"])
    return blocks_to_cover(longer, BLOCK[0]), blocks_to_cover(longer, BLOCK[1])


DEBRIEF = Debrief(
    shows=("global_load.bytes", "global_load.sectors", "fma"),
    why=(
        "Neighbouring lanes make neighbours of one row of out. They want the same number of a, "
        "which is one sector, and neighbours of a row of b."
    ),
    alternative=(
        "Any block whose lanes run along the rows of out does. What no kernel mends that goes "
        "straight to memory is that each product takes two loads: every number of a is asked for "
        "by each column, and every number of b by each row."
    ),
)

MATMUL_NAIVE = KernelPuzzle(
    name="06_matmul/matmul_naive",
    title="a product, a thread for each cell",
    difficulty="easy",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "out[row, col] is the sum of a[row, p] * b[p, col] over all p below k. Each thread writes "
        "at most one cell, and once. Loads and stores must be in order, and all arithmetic in "
        "float32. NaN and infinities count as in any sum, and 0 times infinity is NaN."
    ),
    parameters={"matmul_naive": ARGUMENTS},
    cases=(
        sides("visible example", 6, 40, 5, visible=True),
        sides("one cell", 1, 1, 3),
        sides("taller than wide", 45, 10, 7),
        sides("whole blocks, large numbers", 16, 64, 8, doublings=30),
        sides("a single column", 33, 1, 9),
        sides("infinities, a NaN and zeros", 6, 40, 5, infinite=1),
    ),
    random_case=drawn_sides((5, 40), (5, 70), (2, 12)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", a="m k", b="k n"), infinite=put_special_numbers("a", "b")
    ),
    large=large_square,
    launches=lambda case: (Launch("matmul_naive", _grid(case), BLOCK, ARGUMENTS),),
    reference=gives(lambda a, b: product(a, b)),
    budgets=(
        Budget(
            "global_store.bytes",
            lambda case, counters: 4 * cells_of(case),
            "Each step of the sum goes to global memory and comes back from there. Where does a "
            "thread keep a number that only it needs?",
            "bytes stored",
        ),
        LOADS_IN_ORDER,
        STORES_IN_ORDER,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=recognise(
        ("last-product", lambda a, b: product(a[:, -1:], b[-1:])),
        ("first-missing", lambda a, b: product(a[:, 1:], b[1:])),
    ),
    diagnoses={
        "out-of-bounds": (
            "There are more threads than cells, on both sides. Rows of out end at m, columns at n, "
            "and the sum at k: which index has which end?"
        ),
        "race": (
            "Several threads met at one cell, with nothing to order them. If it is a cell of out: "
            "which other thread has it too?"
        ),
        "last-product": (
            "out has the last product alone: each one replaced the one before. A sum keeps what it "
            "has and adds to it."
        ),
        "first-missing": (
            "The first product is missing from every sum. Which value does p begin with?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "One thread, one cell, one sum over p. Which of row and col should change from one "
            "lane of a warp to the next?"
        ),
        (
            "`cuda.grid(2)` gives x first. Neighbouring lanes have neighbouring x, and the numbers "
            "that lie side by side in memory are those of one row."
        ),
        (
            "Guard both sides of out. Add the products up in a local variable that begins as "
            "float32(0), and write it to out once, behind the loop."
        ),
    ),
    mistakes=(
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("replaces_the_sum", "wrong-result", "last-product"),
        Mistake("begins_at_one", "wrong-result", "first-missing"),
        Mistake("x_down_the_rows", "over-budget", "over-budget"),
        Mistake("sums_in_global_memory", "over-budget", "over-budget"),
        Mistake("sum_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_for_a_row", "over-budget", "not-shared"),
    ),
)
