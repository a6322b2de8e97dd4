"""Puzzle `blocks`: more data than a block."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    BRANCHES,
    ONE_CELL_EACH,
    SEVERAL_BLOCKS,
    TRAFFIC,
    arrays,
    blocks_to_cover,
    drawn,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Mistake, Values


def _factors_exchanged(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    size, block = case.sizes["size"], case.sizes["block"]
    thread, number = np.indices((block, blocks_to_cover(size, block)))
    reached = np.isin(np.arange(size), thread * block + number)
    return {"out": where_written(inputs["a"] * inputs["a"], reached)}


DEBRIEF = Debrief(
    shows=(*TRAFFIC, *BRANCHES),
    why=(
        "The blocks before this one hold a block's worth of threads each, so counting them first "
        "gives every thread of the launch a number that no other has. The guard takes care of the "
        "last block."
    ),
    alternative=(
        "cuda.grid(1) is the same formula with a name, and what people write. Read a[i] once into "
        "a local variable or write it twice: the compiler makes the same code of both."
    ),
)

BLOCKS = KernelPuzzle(
    name="01_threads/blocks",
    title="more data than a block",
    difficulty="easy",
    minutes=7,
    debrief=DEBRIEF,
    statement=(
        "Write a kernel that puts the square of a[i] into out[i], and in which each thread writes "
        "at most one cell. There are more cells than threads in a block, so the launch brings "
        "several blocks, and the last one may have threads to spare. a may hold NaN and "
        "infinities as well."
    ),
    parameters={"blocks": ("out", "a", "size")},
    cases=(
        *SEVERAL_BLOCKS,
        sized("1,000 cells", size=1000, block=128),
        sized("40,000 large numbers", size=40_000, block=256, doublings=10),
        special("NaN and infinities", size=77, block=16),
    ),
    random_case=drawn(size=(20, 600), block=[16, 24, 32, 64]),
    inputs=arrays("size", a="size"),
    launches=enough_blocks("blocks", "out", "a", "size"),
    reference=gives(lambda a: a * a),
    diagnose=recognise(
        ("doubled", lambda a: a + a),
        ("gaps", _factors_exchanged),
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
