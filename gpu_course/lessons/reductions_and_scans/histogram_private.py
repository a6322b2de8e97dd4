"""Puzzle `histogram_private`: count in shared memory, then add once."""

from __future__ import annotations

from gpu_course.lessons.reductions_and_scans.counting import counted, values_to_count
from gpu_course.lessons.reductions_and_scans.sums import TPB, WARP
from gpu_course.puzzle.builders import blocks_to_cover, drawn_case, gives, sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle, Launch, Share
from gpu_course.puzzle.warp_budgets import READ_IN_ORDER

BINS = 200
BLOCKS = 3
CELLS_OF_A_THREAD = 2 * blocks_to_cover(BINS, TPB)
REQUESTS = BLOCKS * blocks_to_cover(BINS, WARP)
"""Atomic requests of warps in which every block adds every bin once."""

LESSON = (
    "An atomic on global memory is carried out in the L2 cache, and those on one bin queue there. "
    "How often does a block have to speak to a bin of counts, however many cells it has counted?"
)


HISTOGRAM_PRIVATE = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=1200),
        sized("one cell", size=1),
        sized("33 cells", size=33),
        sized("exactly one each", size=BLOCKS * TPB),
        sized("almost all the same", size=1500, common_percent=90),
        sized("four each", size=4 * BLOCKS * TPB),
    ),
    random_case=drawn_case(size=(1000, 4 * BLOCKS * TPB)),
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
    share=Share("Each thread writes at most four cells of counts.", CELLS_OF_A_THREAD),
)
