"""Puzzles of lesson 04 in which a block has a piece of its own: block_reverse, pooling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.catalog.builders import (
    ONE_CELL_EACH,
    Alternative,
    blocks_to_cover,
    eighths,
    float32_out,
    recognise,
    sized,
    vectors,
)
from gpu_course.catalog.shared_memory import debriefs
from gpu_course.catalog.specification import Budget, Case, KernelPuzzle, Launch, Mistake, Values

TPB = 64
WINDOW = 4


OUTSIDE_THE_TILE = {
    "race in global memory": (
        "Two threads met at one cell of global memory. Which cells of out does a block have, and "
        "which of them does this thread have?"
    ),
}
"""What a puzzle with a tile says of a race elsewhere: the tile has nothing to do with it."""


def in_pieces(a: np.ndarray) -> list[np.ndarray]:
    """Returns the pieces of a vector that blocks of TPB threads have.

    >>> [len(piece) for piece in in_pieces(np.arange(100))]
    [64, 36]
    """
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


def by_piece(a: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Returns a vector whose pieces are changed one by one."""
    return np.concatenate([change(piece) for piece in in_pieces(a)])


def vector_and_table(rng: np.random.Generator, case: Case) -> Values:
    """Returns the inputs a float32 (size,) and table float32 (rows, cols), and the sizes."""
    sizes = case.sizes
    return {
        "a": eighths(rng, sizes["size"], case),
        "table": eighths(rng, (sizes["rows"], sizes["cols"]), case),
        **{name: size for name, size in sizes.items() if name != "doublings"},
    }


BLOCK_REVERSE = KernelPuzzle(
    name="04_shared_memory/block_reverse",
    title="every block turns its piece round",
    difficulty="medium",
    minutes=8,
    debrief=debriefs.BLOCK_REVERSE,
    statement=(
        "A block has TPB cells of a. Write the kernel that puts them into out in reverse order, "
        "each block within its own piece; the last piece may be shorter. Bring the cells into a "
        "tile of shared memory, wait, and take them out the other way round: each thread writes "
        "at most one cell, and loads and stores of global memory both go along the array in "
        "order."
    ),
    functions=("block_reverse",),
    parameters={"block_reverse": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=100),
        sized("one cell", size=1),
        sized("exactly two blocks", size=128),
        sized("one cell more than two blocks", size=129),
        sized("1,003 large numbers", size=1003, doublings=100),
    ),
    random_case=lambda rng: sized("a size drawn at random", size=int(rng.integers(65, 700))),
    inputs=vectors("a", scalars=["size"]),
    outputs=float32_out("size"),
    launches=lambda case: (
        Launch(
            "block_reverse", blocks_to_cover(case.sizes["size"], TPB), TPB, ("out", "a", "size")
        ),
    ),
    reference=lambda inputs, case: {"out": by_piece(inputs["a"], np.flip)},
    budgets=(
        Budget(
            "global_load.excess_sectors",
            0,
            "The 32 threads of a warp go to memory together, and fastest where they read along the "
            "array. Let thread t read cell t of the piece, and do the turning in the tile.",
            fact="a is not read in order",
        ),
        Budget(
            "global_store.excess_sectors",
            0,
            "The 32 threads of a warp go to memory together, and fastest where they write along "
            "the array. Let thread t write cell t of the piece, and do the turning in the tile.",
            fact="out is not written in order",
        ),
    ),
    diagnose=recognise(
        ("whole-array", lambda inputs, case: {"out": inputs["a"][::-1]}),
        ("copied-input", lambda inputs, case: {"out": inputs["a"]}),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread takes from the tile what another thread brings, and nothing makes it wait "
            "for that. A warp is not a block: the other warp may be far behind. Which line must "
            "all threads of the block have finished before the first cell is taken out?"
        ),
        "barrier-divergence": (
            "A barrier waits for the whole block, including the threads without a cell. Put the "
            "guard around what touches memory, and end it before the barrier."
        ),
        "uninitialised-read": (
            "In the last block some places of the tile were never filled, and a thread takes its "
            "number from there. How many cells does that block have, and which is its last?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. Cells are counted from 0, in a and out as in the "
            "tile. Which threads of the last block have a cell, and what does thread 0 ask for in "
            "a full one?"
        ),
        "whole-array": (
            "The whole array is turned round. Each block should turn its own piece and leave it in "
            "its place."
        ),
        "copied-input": (
            "Every cell came out where it went in. Which place of the tile belongs to thread t?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Two steps with a wait between them: every thread brings one cell into the tile; "
            "every thread takes a different one out."
        ),
        (
            "Thread 0 takes what the last thread of the piece has brought, thread 1 the one "
            "before. In the last block the piece may be shorter than the tile; work out its length "
            "from `size` and `start`."
        ),
        (
            "Two guards, one around bringing and one around taking, and the barrier between them "
            "at the outermost level, where threads without a cell reach it too. The piece's "
            "length is TPB or what is left of the array, whichever is less."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("waited_for_the_warp", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("left_before_the_barrier", "hazard", "barrier-divergence"),
        Mistake("mirrored_a_full_tile", "hazard", "uninitialised-read"),
        Mistake("mirrored_at_the_length", "hazard", "out-of-bounds"),
        Mistake("turned_the_whole_array", "wrong-result", "whole-array"),
        Mistake("only_copied", "wrong-result", "copied-input"),
        Mistake("read_global_backwards", "over-budget", "over-budget"),
        Mistake("wrote_global_backwards", "over-budget", "over-budget"),
        Mistake("one_thread_fills_the_tile", "over-budget", "not-shared"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB},
    source=(
        "the idea of 'Shared' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles, "
        "with an order that a tile is needed for"
    ),
)


def _windows(a: np.ndarray, first: int, last: int) -> list[np.ndarray]:
    """The columns `first` to `last` places to the right of each column, NaN beyond the row."""
    rows, cols = a.shape
    wide = np.full((rows, cols + 2 * WINDOW), np.nan, np.float32)
    wide[:, WINDOW : WINDOW + cols] = a
    return [wide[:, WINDOW + at : WINDOW + at + cols] for at in range(first, last + 1)]


def _largest(a: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.fmax.reduce(_windows(a, first, last))


def _numbers_and_columns(rng: np.random.Generator, case: Case) -> Values:
    numbers = eighths(rng, (case.sizes["rows"], case.sizes["cols"]), case)
    return {"a": numbers, "cols": case.sizes["cols"]}


def _began_too_high_or(
    *alternatives: tuple[str, Alternative],
) -> Callable[[Values, Case, Values, Values], str | None]:
    """Knows the alternatives, and one number in all wrong cells that is larger than any wanted."""
    known = recognise(*alternatives)

    def diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
        key = known(inputs, case, expected, got)
        wrong = got["out"] != expected["out"]
        found, wanted = got["out"][wrong], expected["out"][wrong]
        if key is None and found.size and (found == found[0]).all() and (wanted < found).all():
            return "began-too-high"
        return key

    return diagnose


POOLING = KernelPuzzle(
    name="04_shared_memory/pooling",
    title="the largest of the last four",
    difficulty="medium",
    minutes=8,
    debrief=debriefs.POOLING,
    statement=(
        "Max pooling with a window that moves by one: out[row, col] is the largest of the last "
        "WINDOW numbers of the row, a[row, col] included; at the beginning of a row there are "
        "fewer. Each row has a block of its own, with at least as many threads as columns, and "
        "each thread writes at most one cell. Load every number from global memory once."
    ),
    functions=("pooling",),
    parameters={"pooling": ("out", "a", "cols")},
    cases=(
        sized("visible example", visible=True, rows=3, cols=12),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than the window", rows=4, cols=3),
        sized("a thread for every column", rows=5, cols=64),
        sized("two warps, not quite", rows=7, cols=51),
        sized("numbers near the ends of float32", rows=7, cols=50, doublings=122),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random", rows=int(rng.integers(2, 12)), cols=int(rng.integers(6, 65))
    ),
    inputs=_numbers_and_columns,
    outputs=float32_out("rows", "cols"),
    launches=lambda case: (Launch("pooling", case.sizes["rows"], TPB, ("out", "a", "cols")),),
    reference=lambda inputs, case: {"out": _largest(inputs["a"], 1 - WINDOW, 0)},
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["rows"] * case.sizes["cols"],
            "Each number is wanted by up to WINDOW threads and should come from global memory "
            "once; the others find it in the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=_began_too_high_or(
        ("began-at-zero", lambda inputs, case: _at_least_zero(inputs)),
        ("looked-ahead", lambda inputs, case: {"out": _largest(inputs["a"], 0, WINDOW - 1)}),
        ("window-short", lambda inputs, case: {"out": _largest(inputs["a"], 2 - WINDOW, 0)}),
        ("summed", lambda inputs, case: _summed(inputs)),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread compares with what its neighbours bring, and nothing makes it wait for "
            "them. What has to happen between filling the tile and reading it?"
        ),
        "barrier-divergence": (
            "The block has more threads than the row has columns, and the barrier waits for all of "
            "them. Guard the memory accesses, not the barrier."
        ),
        "out-of-bounds": (
            "An index lies outside its array. At the beginning of a row the window sticks out to "
            "the left, and at its end the block has more threads than the row has columns. Which "
            "of the two is it in the line above?"
        ),
        "uninitialised-read": (
            "A place of the tile was read, and no thread had filled it. Which columns does the "
            "row have?"
        ),
        "began-at-zero": (
            "Where all numbers of a window are negative, your result is 0, which is not one of "
            "them. Begin with a number of the window itself."
        ),
        "began-too-high": (
            "Where all numbers of a window are small, your result is not one of them: it is what "
            "your maximum begins with. No fixed number is small enough for every input. Begin "
            "with a number of the window itself."
        ),
        "looked-ahead": (
            "The window lies on the wrong side: it should end at a[row, col], and yours begins "
            "there."
        ),
        "window-short": "The window is one number too short: WINDOW counts a[row, col] as well.",
        "summed": "You add the numbers of the window; the puzzle asks for the largest of them.",
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Once a row lies in the tile, the rest is a loop over at most WINDOW places of it. "
            "Who brings what, and when may the loop begin?"
        ),
        (
            "One guard for bringing and one for the rest, the barrier between them at the "
            "outermost level. The loop goes back from the thread's own place."
        ),
        (
            "Thread 0 has one number to look at, thread 1 has two, and from thread WINDOW - 1 on "
            "each has WINDOW of them: let the loop end at the smaller of WINDOW and how many "
            "there are. Begin with the thread's own number."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("window_past_the_start", "hazard", "out-of-bounds"),
        Mistake("began_at_zero", "wrong-result", "began-at-zero"),
        Mistake("began_at_minus_100", "wrong-result", "began-too-high"),
        Mistake("looked_ahead", "wrong-result", "looked-ahead"),
        Mistake("window_one_short", "wrong-result", "window-short"),
        Mistake("summed", "wrong-result", "summed"),
        Mistake("read_global_again", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WINDOW": WINDOW},
    equivalent_mutants={
        "pooling:constant:for back in range(0, min(WINDOW, col + 1)):": (
            "a number compared with itself stays the largest so far"
        ),
    },
    source="after 'Pooling' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)


def _at_least_zero(inputs: Values) -> dict[str, np.ndarray]:
    return {"out": np.maximum(_largest(inputs["a"], 1 - WINDOW, 0), np.float32(0))}


def _summed(inputs: Values) -> dict[str, np.ndarray]:
    with np.errstate(over="ignore"):
        total = np.nansum(_windows(inputs["a"], 1 - WINDOW, 0), axis=0, dtype=np.float32)
    return {"out": np.asarray(total)}
