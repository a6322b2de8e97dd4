"""Puzzle `histogram_private`: count in shared memory, then add once."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.counting import counted, values_to_count
from gpu_course.lessons.reductions_and_scans.sums import READ_IN_ORDER, TPB, WARP
from gpu_course.puzzle.builders import blocks_to_cover, drawn, gives, recognise, sized
from gpu_course.puzzle.specification import Budget, Debrief, KernelPuzzle, Launch, Mistake, Share

BINS = 200
BLOCKS = 3
CELLS_OF_A_THREAD = 2 * blocks_to_cover(BINS, TPB)
REQUESTS = BLOCKS * blocks_to_cover(BINS, WARP)
"""Atomic requests of warps in which every block adds every bin once."""

LESSON = (
    "An atomic on global memory is carried out in the L2 cache, and those on one bin queue there. "
    "How often does a block have to speak to a bin of counts, however many cells it has counted?"
)


def _few_bins(counts: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    return counted(counts, values[values < TPB])


DEBRIEF = Debrief(
    shows=("red.requests", "red.sectors", "shared_load.requests", "barriers"),
    why=(
        "The threads of a block meet in their own table, which lies on the SM and where only they "
        "can meet. Global memory hears of each bin once for each block, however many cells there "
        "are."
    ),
    alternative=(
        "With few bins, or one very common value, even a table for each warp pays: fewer threads "
        "meet at a place, and at the end there are more tables to add."
    ),
)

HISTOGRAM_PRIVATE = KernelPuzzle(
    name="05_reductions_and_scans/histogram_private",
    title="count in shared memory first",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "The histogram again, with BINS bins and a fixed grid for any number of cells; all values "
        "have a bin, and loads are in order. This time atomics on global memory are rationed: a "
        "block may add to each bin of counts once. So it counts in a table of its own first, in "
        "shared memory. There are more bins than threads; each thread writes at most four cells of "
        "counts, and two are enough."
    ),
    parameters={"histogram_private": ("counts", "values", "size")},
    cases=(
        sized("visible example", visible=True, size=1200),
        sized("one cell", size=1),
        sized("33 cells", size=33),
        sized("exactly one each", size=BLOCKS * TPB),
        sized("almost all the same", size=1500, common_percent=90),
        sized("four each", size=4 * BLOCKS * TPB),
    ),
    random_case=drawn(size=(1000, 4 * BLOCKS * TPB)),
    # A few blocks for each multiprocessor of any card.
    large=lambda least_bytes: sized("past L2", size=-(-least_bytes // 4), blocks=512),
    inputs=values_to_count(BINS),
    launches=lambda case: (
        Launch(
            "histogram_private", case.sizes.get("blocks", BLOCKS), TPB, ("counts", "values", "size")
        ),
    ),
    reference=gives(counted),
    budgets=(
        Budget("red.requests", REQUESTS, LESSON, "atomic requests of warps to global memory"),
        Budget("atom.requests", 0, LESSON, "atomic requests that wait for the old number"),
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each value should be loaded once, by one thread of the grid.",
            "bytes loaded",
        ),
        READ_IN_ORDER,
    ),
    diagnose=recognise(
        ("bins-left-out", _few_bins),
        ("cells-left-out", lambda counts, values: counted(counts, values[: BLOCKS * TPB])),
    ),
    diagnoses={
        "race": (
            "One place is touched by two threads with nothing to order them. The table is cleared, "
            "counted in, and added up: what stands between these three? And where two threads add "
            "to one place, in the table or in counts, what makes each addition a single step?"
        ),
        "uninitialised-read": (
            "A place of the table was added to before anything was stored there. Shared memory "
            "begins unset, and the table has more places than the block has threads."
        ),
        "bins-left-out": (
            "The bins from TPB on stay as they were. There are more bins than threads in a block."
        ),
        "cells-left-out": (
            "Only as many cells were counted as the grid has threads. There may be more."
        ),
    },
    share=Share("Each thread writes at most four cells of counts.", CELLS_OF_A_THREAD),
    hints=(
        "Three parts with a barrier between each: clear the table, count in it, add it to counts.",
        (
            "Clearing and adding are loops over the bins, in steps of the block. Counting is a "
            "loop over the cells, in steps of the grid."
        ),
        (
            "The counting takes an atomic on the table, since the threads of a block meet there. "
            "The adding takes an atomic on counts, since the blocks meet there."
        ),
    ),
    mistakes=(
        Mistake("counted_before_it_is_clear", "hazard", "race"),
        Mistake("added_before_all_have_counted", "hazard", "race"),
        Mistake("plain_plus_in_the_table", "hazard", "race"),
        Mistake("stored_over_the_counts", "hazard", "race"),
        Mistake("never_cleared", "hazard", "uninitialised-read"),
        Mistake("cleared_one_bin_each", "hazard", "uninitialised-read"),
        Mistake("added_one_bin_each", "wrong-result", "bins-left-out"),
        Mistake("no_loop", "wrong-result", "cells-left-out"),
        Mistake("counted_in_global_memory", "over-budget", "over-budget"),
        Mistake("one_thread_adds_the_table", "over-budget", "not-shared"),
    ),
    equivalent_mutants={
        "histogram_private:loop-ends-late:"
        "for i in range(cuda.grid(1), size + 2 * step, 2 * step):": (
            "behind the end every cell is guarded"
        ),
        "histogram_private:constant:kept = cuda.local.array(3, int32)": "a cell that nobody uses",
    },
    constants={"TPB": TPB, "BINS": BINS},
)
