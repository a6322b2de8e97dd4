"""Puzzles of lesson 01 that take several blocks: blocks, blocks_2d, grid_stride."""

from __future__ import annotations

import numpy as np

from gpu_course.catalog.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    eighths,
    enough_blocks,
    float32_out,
    recognise,
    sized,
    vectors,
    where_written,
)
from gpu_course.catalog.specification import Case, KernelPuzzle, Launch, Mistake, Share, Values
from gpu_course.catalog.threads import debriefs

BLOCKS = KernelPuzzle(
    name="01_threads/blocks",
    title="more data than a block",
    difficulty="easy",
    minutes=7,
    debrief=debriefs.BLOCKS,
    statement=(
        "Write a kernel that puts the square of a[i] into out[i], and in which each thread writes "
        "at most one cell. There are more cells than threads in a block, so the launch brings "
        "several blocks, and the last one may have threads to spare."
    ),
    functions=("blocks",),
    parameters={"blocks": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=10, block=4),
        sized("one cell", size=1, block=4),
        sized("one cell more than two blocks", size=65, block=32),
        sized("exactly two blocks", size=64, block=32),
        sized("1,000 cells", size=1000, block=128),
        sized("40,000 large numbers", size=40_000, block=256, doublings=10),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        size=int(rng.integers(20, 600)),
        block=int(rng.choice([16, 24, 32, 64])),
    ),
    inputs=vectors("a", scalars=["size"]),
    outputs=float32_out("size"),
    launches=enough_blocks("blocks", "out", "a", "size"),
    reference=lambda inputs, case: {"out": inputs["a"] * inputs["a"]},
    diagnose=recognise(
        ("doubled", lambda inputs, case: {"out": inputs["a"] + inputs["a"]}),
        ("gaps", lambda inputs, case: _factors_exchanged(inputs, case)),
    ),
    diagnoses={
        "race": (
            "Two threads wrote to one cell: they work with the same index. Write down the index "
            "of threads 0 and 1 in block 0, and of thread 0 in block 1. No two may be the same, "
            "whatever the size of a block."
        ),
        "out-of-bounds": (
            "Threads of the last block ran past the end. More blocks do not make the guard "
            "unnecessary: it moves to the last block."
        ),
        "gaps": (
            "No thread wrote some of the cells in the middle. Check your index with block 1, "
            "thread 0: does it land just behind the last thread of block 0?"
        ),
        "doubled": "Each cell holds twice its number, not its number times itself.",
        "only-first-block-right": (
            "The cells of block 0 are right and the others are not. Does your index change from "
            "block to block?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "threadIdx.x starts again at 0 in every block. Something must tell the blocks apart.",
        (
            "Before block 1 begins, block 0 has used up as many cells as a block has threads. "
            "Before block 2, twice as many."
        ),
        (
            "cuda.blockIdx.x, cuda.blockDim.x and cuda.threadIdx.x are all you need, one product "
            "and one sum; cuda.grid(1) is the same thing in one word. The guard stays."
        ),
    ),
    mistakes=(
        Mistake("thread_number_without_block", "hazard", "race"),
        Mistake("added_the_block_number", "hazard", "race"),
        Mistake("grid_side_for_block_side", "hazard", "race"),
        Mistake("block_side_of_the_example", "hazard", "race"),
        Mistake("factors_exchanged", "wrong-result", "gaps"),
        Mistake("doubled", "wrong-result", "doubled"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("one_thread_does_it_all", "over-budget", "not-shared"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    source="after 'Blocks' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)


def _factors_exchanged(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    size, block = case.sizes["size"], case.sizes["block"]
    thread, number = np.indices((block, blocks_to_cover(size, block)))
    reached = np.isin(np.arange(size), thread * block + number)
    return {"out": where_written(inputs["a"] * inputs["a"], reached)}


BLOCKS_2D = KernelPuzzle(
    name="01_threads/blocks_2d",
    title="a bias for every column",
    difficulty="medium",
    minutes=8,
    debrief=debriefs.BLOCKS_2D,
    statement=(
        "a holds the activations of a layer: `rows` examples, `cols` features. Add to each "
        "feature its bias: out[row, col] = a[row, col] + bias[col]. Many blocks share the array, "
        "and each thread writes at most one cell. Neither side of the array is a multiple of the "
        "block's."
    ),
    functions=("blocks_2d",),
    parameters={"blocks_2d": ("out", "a", "bias", "rows", "cols")},
    cases=(
        sized("visible example", visible=True, rows=5, cols=10, block_x=4, block_y=2),
        sized("one cell", rows=1, cols=1, block_x=4, block_y=2),
        sized("taller than wide", rows=37, cols=11, block_x=8, block_y=4),
        sized("large numbers", rows=37, cols=41, block_x=8, block_y=4, doublings=10),
        sized("wider than tall", rows=9, cols=70, block_x=16, block_y=4),
        sized("whole blocks only", rows=12, cols=32, block_x=16, block_y=4),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        rows=int(rng.integers(5, 30)),
        cols=int(rng.integers(31, 60)),
        block_x=int(rng.choice([8, 16])),
        block_y=int(rng.choice([2, 4])),
    ),
    inputs=lambda rng, case: {
        "a": eighths(rng, (case.sizes["rows"], case.sizes["cols"]), case),
        "bias": eighths(rng, case.sizes["cols"], case),
        "rows": case.sizes["rows"],
        "cols": case.sizes["cols"],
    },
    outputs=float32_out("rows", "cols"),
    launches=lambda case: (
        Launch("blocks_2d", _grid_2d(case), _block_2d(case), ("out", "a", "bias", "rows", "cols")),
    ),
    reference=lambda inputs, case: {"out": inputs["a"] + inputs["bias"]},
    diagnose=recognise(
        ("bias-by-row", lambda inputs, case: _bias_by_row(inputs)),
        ("swapped-axes", lambda inputs, case: _swapped_grid(inputs, case)),
        ("missing-rows", lambda inputs, case: _wrong_block_side(inputs, case)),
    ),
    diagnoses={
        "bias-by-row": (
            "Every number in one row got the same bias. A bias belongs to a feature, and features "
            "are columns."
        ),
        "swapped-axes": (
            "The columns at the right were never written, although the grid covers them. The grid "
            "is wide in x. Which of row and col should come from x? cuda.grid(2) gives x first."
        ),
        "missing-rows": (
            "Whole rows were left out, at a regular distance. Blocks above each other lie as many "
            "rows apart as a block is high: which of its two sides is that?"
        ),
        "race": (
            "Two threads wrote to one cell. In each of the two directions, does the index "
            "depend on the thread and on the block it is in?"
        ),
        "out-of-bounds": (
            "A thread outside the array touched it. The blocks at the right edge stick out in x, "
            "those at the bottom in y, the one in the corner in both: one condition is not enough."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "It is the index of `blocks`, twice: once along x, once along y.",
        (
            "Each axis takes its block number, its block side and its thread number from the same "
            "letter. Decide which letter runs along a row."
        ),
        (
            "cuda.grid(2) gives both indices at once, x first, so think about the order of the "
            "names on the left. Guard both axes; bias has one index."
        ),
    ),
    mistakes=(
        Mistake("row_from_x", "wrong-result", "swapped-axes"),
        Mistake("thread_number_without_block_in_y", "hazard", "race"),
        Mistake("block_width_for_block_height", "wrong-result", "missing-rows"),
        Mistake("guard_in_one_axis", "hazard", "out-of-bounds"),
        Mistake("bias_of_the_row", "wrong-result", "bias-by-row"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    source="after 'Blocks 2D' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)


def _block_2d(case: Case) -> tuple[int, int]:
    return case.sizes["block_x"], case.sizes["block_y"]


def _grid_2d(case: Case) -> tuple[int, int]:
    width, height = _block_2d(case)
    return (
        blocks_to_cover(case.sizes["cols"], width),
        blocks_to_cover(case.sizes["rows"], height),
    )


def _bias_by_row(inputs: Values) -> dict[str, np.ndarray]:
    rows, cols = inputs["a"].shape
    # With more rows than features this idea reads outside bias, and never comes to a result.
    used = inputs["bias"][:rows] if rows <= cols else np.full(rows, np.nan, np.float32)
    return {"out": inputs["a"] + used[:, None]}


def _swapped_grid(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    (grid_x, grid_y), (block_x, block_y) = _grid_2d(case), _block_2d(case)
    row, col = np.indices(inputs["a"].shape)
    reached = (row < grid_x * block_x) & (col < grid_y * block_y)
    return {"out": where_written(inputs["a"] + inputs["bias"], reached)}


def _wrong_block_side(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    (_, grid_y), (block_x, block_y) = _grid_2d(case), _block_2d(case)
    block, thread = np.indices((grid_y, block_y))
    reached = np.isin(np.arange(case.sizes["rows"]), block * block_x + thread)
    return {"out": where_written(inputs["a"] + inputs["bias"], reached[:, None])}


def _even_share(case: Case) -> int:
    """The most cells of a thread where blocks share the cells, and a block's threads its cells."""
    return blocks_to_cover(
        blocks_to_cover(case.sizes["size"], case.sizes["grid"]), case.sizes["block"]
    )


GRID_STRIDE = KernelPuzzle(
    name="01_threads/grid_stride",
    title="any size with a fixed grid",
    difficulty="medium",
    minutes=10,
    debrief=debriefs.GRID_STRIDE,
    statement=(
        "Write a kernel that puts a[i] - b[i] into out[i] for all `size` cells, however many they "
        "are. The grid is fixed and does not know the size: there may be far more cells than "
        "threads, or fewer. Every thread goes on to its next cell until there are none left, so "
        "that the cells are shared evenly among the threads."
    ),
    functions=("grid_stride",),
    parameters={"grid_stride": ("out", "a", "b", "size")},
    cases=(
        sized("visible example", visible=True, size=19, grid=2, block=4),
        sized("one cell", size=1, grid=2, block=4),
        sized("fewer cells than threads", size=13, grid=4, block=8),
        sized("a whole number of strides", size=96, grid=3, block=16),
        sized("1,000 cells", size=1000, grid=3, block=32),
        sized("a single block", size=77, grid=1, block=32),
        sized("3,300 large numbers, half a warp", size=3300, grid=1, block=16, doublings=10),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random",
        size=int(rng.integers(2, 700)),
        grid=int(rng.integers(2, 6)),
        block=int(rng.choice([8, 24, 32])),
    ),
    inputs=vectors("a", "b", scalars=["size"]),
    outputs=float32_out("size"),
    launches=lambda case: (
        Launch("grid_stride", case.sizes["grid"], case.sizes["block"], ("out", "a", "b", "size")),
    ),
    reference=lambda inputs, case: {"out": inputs["a"] - inputs["b"]},
    diagnose=recognise(
        ("wrong-sign", lambda inputs, case: {"out": inputs["b"] - inputs["a"]}),
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
            "Some threads never leave their loop: nothing in it brings i closer to size. What "
            "should happen to i at the end of each round?"
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
