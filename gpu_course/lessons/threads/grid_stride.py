"""Puzzle `grid_stride`: any size with a fixed grid."""

from __future__ import annotations

from gpu_course.puzzle.builders import (
    BRANCHES,
    TRAFFIC,
    arrays,
    blocks_to_cover,
    drawn,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Launch, Mistake, Share


def _even_share(case: Case) -> int:
    """The most cells of a thread where blocks share the cells, and a block's threads its cells."""
    return blocks_to_cover(
        blocks_to_cover(case.sizes["size"], case.sizes["grid"]), case.sizes["block"]
    )


DEBRIEF = Debrief(
    shows=(*TRAFFIC, *BRANCHES),
    why=(
        "Each thread works out from its own number which cells are its share, and together the "
        "shares cover every cell exactly once. So the grid may have any size, whatever the size "
        "of the data."
    ),
    alternative=(
        "Begin at the thread's number and move on by the number of all threads, in a for loop or "
        "a while loop. One piece of neighbouring cells for each thread is right too, but then "
        "neighbouring threads read far apart, and lesson 03 shows what that costs."
    ),
)

GRID_STRIDE = KernelPuzzle(
    name="01_threads/grid_stride",
    title="any size with a fixed grid",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Write a kernel that puts a[i] - b[i] into out[i] for all `size` cells, however many they "
        "are. The grid is fixed and does not know the size: there may be far more cells than "
        "threads, or fewer. Every thread goes on to its next cell until there are none left, so "
        "that the cells are shared evenly among the threads. a and b may hold NaN and infinities "
        "as well."
    ),
    parameters={"grid_stride": ("out", "a", "b", "size")},
    cases=(
        sized("visible example", visible=True, size=19, grid=2, block=4),
        sized("one cell", size=1, grid=2, block=4),
        sized("fewer cells than threads", size=13, grid=4, block=8),
        sized("a whole number of strides", size=96, grid=3, block=16),
        sized("1,000 cells", size=1000, grid=3, block=32),
        sized("a single block", size=77, grid=1, block=32),
        sized("3,300 large numbers, half a warp", size=3300, grid=1, block=16, doublings=10),
        special("NaN and infinities", size=77, grid=2, block=8),
    ),
    random_case=drawn(size=(2, 700), grid=(2, 6), block=[8, 24, 32]),
    inputs=arrays("size", a="size", b="size"),
    launches=lambda case: (
        Launch("grid_stride", case.sizes["grid"], case.sizes["block"], ("out", "a", "b", "size")),
    ),
    # Three arrays of float32, and a grid of a few blocks for each multiprocessor of any card.
    large=lambda least_bytes: sized("past L2", size=-(-least_bytes // 12), grid=1024, block=256),
    reference=gives(lambda a, b: a - b),
    diagnose=recognise(
        ("wrong-sign", lambda b, a: b - a),
    ),
    diagnoses={
        "race": (
            "Two threads wrote to the same cell, so their paths through the array cross. Two "
            "threads never meet if they start at different cells and all take the same step. How "
            "long must the step be so that no thread lands where another began?"
        ),
        "tail-unwritten": (
            "There are more cells than threads, and no thread did the last ones. Which cells does "
            "a thread do after its first, and when does it stop?"
        ),
        "out-of-bounds": (
            "A thread went past the end. A loop that steps through the array needs its end to be "
            "where the array ends; it is the guard and the loop in one."
        ),
        "endless-loop": (
            "Some threads never leave their loop: nothing in it brings the index closer to size. "
            "What should happen to the index at the end of each round?"
        ),
        "wrong-sign": "Every value has the wrong sign: which array is taken from which?",
    },
    share=Share(
        "The cells are shared evenly among the threads.", lambda case, output: _even_share(case)
    ),
    hints=(
        (
            "Think of the grid as a comb that is moved along the array, one comb-width at a time. "
            "Where does a thread stand first, and where next?"
        ),
        (
            "The first cell of a thread is its number in the whole grid. The width of the comb is "
            "the number of threads in the whole grid, not in a block."
        ),
        (
            "A loop over range with a start, an end and a step does all of it; cuda.gridsize(1) "
            "counts the threads of the grid. A range that is empty does nothing, so no other guard "
            "is needed."
        ),
    ),
    mistakes=(
        Mistake("one_cell_per_thread", "wrong-result", "tail-unwritten"),
        Mistake("stride_of_a_block", "hazard", "race"),
        Mistake("every_thread_from_zero", "hazard", "race"),
        Mistake("started_at_the_local_number", "hazard", "race"),
        Mistake("one_step_too_far", "hazard", "out-of-bounds"),
        Mistake("never_moves_on", "hazard", "endless-loop"),
        Mistake("subtracted_the_wrong_way", "wrong-result", "wrong-sign"),
        Mistake("one_thread_does_it_all", "over-budget", "not-shared"),
        Mistake("the_rest_for_the_last_thread", "over-budget", "not-shared"),
        Mistake("pieces_rounded_down", "wrong-result", "tail-unwritten"),
    ),
    source=(
        "the pattern of Mark Harris, 'CUDA Pro Tip: Write Flexible Kernels with Grid-Stride "
        "Loops', NVIDIA Developer Blog, 2013, "
        "https://developer.nvidia.com/blog/cuda-pro-tip-write-flexible-kernels-grid-stride-loops/"
    ),
)
