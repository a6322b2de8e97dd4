"""Puzzle `histogram`: how often each value occurs."""

from __future__ import annotations

from gpu_course.lessons.reductions_and_scans.counting import counted, values_to_count
from gpu_course.puzzle.builders import ONE_CELL_EACH, drawn_case, enough_blocks, gives, sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, KernelPuzzle

BINS = 40
BLOCK = 64


HISTOGRAM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=150),
        sized("one cell", size=1),
        sized("31 cells", size=31),
        sized("exactly two blocks", size=128),
        sized("almost all the same", size=261, common_percent=90),
        sized("a thousand and one", size=1001),
        sized("values far from all bins", size=70, far=1),
    ),
    random_case=drawn_case(size=(70, 700)),
    inputs=values_to_count(BINS, beyond=4),
    launches=enough_blocks("histogram", "counts", "values", "size", block=BLOCK),
    reference=gives(counted),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each value should be loaded once, by one thread. A thread that looks for the values "
            "of one bin looks at all the others, too.",
            "bytes loaded",
        ),
        Budget(
            "atom.requests",
            0,
            "Nobody needs the old count. An atomic whose old number is used waits for it, and one "
            "that compares first has to try again where two threads meet.",
            "atomics that wait for the old number",
        ),
    ),
    share=ONE_CELL_EACH,
)
