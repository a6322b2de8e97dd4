"""Puzzle `grid_sum`: one sum by many blocks, in two launches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    ALL_LANES,
    AS_FEW_BARRIERS,
    AS_FEW_SHUFFLES,
    NO_FLOAT64,
    READ_IN_ORDER,
    TPB,
    WARPS,
    an_atomic_a_warp,
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    drawn,
    eighths,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Launch, Mistake, Values

BLOCKS = 4


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {
        "a": eighths(rng, case.sizes["size"], case),
        "size": case.sizes["size"],
        "blocks": _blocks(case),
    }


def _infinite_at_the_end(values: Values) -> None:
    values["a"][-1] = np.inf


def _one_nan(values: Values) -> None:
    values["a"][3] = np.nan


def _blocks(case: Case) -> int:
    return case.sizes.get("blocks", BLOCKS)


def _total(a: np.ndarray) -> dict[str, np.ndarray]:
    return {"total": summed([a])}


def _counted_again(a: np.ndarray) -> dict[str, np.ndarray]:
    """Block b goes from its first cell to the end, in steps of a block."""
    return _total(np.concatenate([a[b * TPB :] for b in range(BLOCKS)]))


DEBRIEF = Debrief(
    shows=("global_load.bytes", "barriers", "shuffles"),
    why=(
        "Blocks cannot wait for each other, but a launch ends only when all of its blocks have "
        "ended. So the second launch finds all partial sums, and no atomic is needed."
    ),
    alternative=(
        "Each block may add its sum to out[0] with one atomic instead: a single launch, but the "
        "order of the additions, and with it the last bits of a float32 sum, changes from run to "
        "run."
    ),
)

GRID_SUM = KernelPuzzle(
    name="05_reductions_and_scans/grid_sum",
    title="one sum by many blocks",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Add up an array of any size with a fixed number of blocks. The kernel is launched twice: "
        "the first launch leaves a sum for each block, the second has one block that adds those. "
        "The threads of the grid read along the array together, each adds up what it meets, and "
        "then the block becomes one number as in `dot`. All sums are float32, each thread writes "
        "at most one cell of out, and most of them none. Let each thread have several loads under "
        "way that do not wait for each other: no counter sees that, and a GPU does. NaN and "
        "infinities count as in any sum."
    ),
    parameters={"grid_sum": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=600),
        sized("one cell", size=1),
        sized("31 cells", size=31),
        sized("33 cells", size=33),
        sized("as many cells as threads", size=512),
        sized("three of four loads", size=1300),
        sized("four of four loads", size=1811),
        sized("2,311 large numbers", size=2311, doublings=90),
        sized("an infinite number at the end", size=600, infinite=1),
        sized("a NaN", size=33, nan=1),
    ),
    random_case=drawn(size=(520, 2000)),
    # A few blocks for each multiprocessor of any card.
    large=lambda least_bytes: sized("past L2", size=-(-least_bytes // 4), blocks=512),
    inputs=with_special_numbers(_inputs, infinite=_infinite_at_the_end, nan=_one_nan),
    launches=lambda case: (
        Launch("grid_sum", _blocks(case), TPB, ("partial", "a", "size")),
        Launch("grid_sum", 1, TPB, ("total", "partial", "blocks")),
    ),
    scratch=lambda inputs, case: {"partial": np.zeros(_blocks(case), np.float32)},
    reference=gives(_total),
    budgets=(
        replace(READ_IN_ORDER, fact="a is not read in order"),
        AS_FEW_BARRIERS,
        an_atomic_a_warp(lambda case: WARPS * (_blocks(case) + 1)),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    diagnose=recognise(
        ("cells-left-out", lambda a: _total(a[: BLOCKS * TPB])),
        ("counted-again", _counted_again),
    ),
    diagnoses={
        "race": (
            "One cell is written by a thread and touched by another, and nothing orders the two. "
            "In the tile: when have all warps stored their sums? In out: which cell belongs to "
            "this block?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. Each of the cells that a thread reads in one round "
            "may be missing while those before it are there."
        ),
        "cells-left-out": (
            "Your sum ends after as many cells as the grid has threads. There may be more."
        ),
        "counted-again": (
            "Some cells are in your sum several times. A thread of block 0 comes to cells that "
            "belong to block 1: how far should it move on?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Take `dot` apart: the loop over cells, the warp, the block. Only the loop has to know "
            "that there are many blocks."
        ),
        (
            "It begins at the thread's number in the grid and moves on by all threads of the grid. "
            "At the end a block stores its one number under its own number."
        ),
        (
            "For loads that do not wait for each other, let a round of the loop take four cells "
            "that lie one grid apart, and add them up only when all four have been asked for. Each "
            "of the later three needs a guard, and gives 0 without a cell."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("every_block_into_one_cell", "hazard", "race"),
        Mistake("one_guard_for_four_loads", "hazard", "out-of-bounds"),
        Mistake("no_loop", "wrong-result", "cells-left-out"),
        Mistake("stride_of_a_block", "wrong-result", "counted-again"),
        Mistake("a_stretch_for_each_thread", "over-budget", "over-budget"),
        Mistake("tree_in_shared_memory", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WARPS": WARPS, "ALL_LANES": ALL_LANES},
    equivalent_mutants={
        "grid_sum:constant:warp = t // 31": (
            "lane 0 of the four warps has t = 0, 32, 64, 96, and 31 divides these alike"
        ),
        "grid_sum:operator:total -= one + two + (three + four)": (
            "the kernel runs twice, and the second launch takes the minus away again"
        ),
    },
    source=(
        "after Justin Luitjens, 'Faster Parallel Reductions on Kepler', NVIDIA Developer Blog, "
        "2014, https://developer.nvidia.com/blog/faster-parallel-reductions-kepler/"
    ),
)
