"""Puzzle `block_sum_sequential`: the tree again, and no warp diverges."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    ALL_LANES,
    NO_FLOAT64,
    OUTSIDE_THE_TILE,
    READ_IN_ORDER,
    TPB,
    WARPS,
    an_atomic_a_warp,
    pieces,
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Values,
)

SPAN = 2 * TPB
STEPS_OF_A_WARP = 5


def _blocks(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], SPAN)


def _put_special_numbers(values: Values) -> None:
    """A NaN in the first piece, an infinity as the last number of the last."""
    values["a"][3], values["a"][-1] = np.nan, np.inf


def _divergent(case: Case) -> int:
    """The steps of the last warp and the store, in each block; the two guards of the last piece."""
    return (STEPS_OF_A_WARP + 1) * _blocks(case) + 2


DEBRIEF = Debrief(
    shows=("divergent_branches", "shared_load.conflicts", "barriers"),
    why=(
        "The threads at work are the first ones of the block, so whole warps work or rest. Their "
        "cells are neighbours, so each lies in a bank of its own."
    ),
    alternative=(
        "The last warp can go on in the tile with a barrier for each step, or let its lanes "
        "exchange their numbers by shuffles and need none."
    ),
    bonus=Bonus(
        goal="The last warp can do without barriers.",
        counter="barriers",
        limit=lambda case: 2 * WARPS * _blocks(case),
    ),
)

BLOCK_SUM_SEQUENTIAL = KernelPuzzle(
    name="05_reductions_and_scans/block_sum_sequential",
    title="the tree, and no warp diverges",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "The sums of pieces again, with SPAN = 2 * TPB cells for a block: each thread adds two "
        "cells on the way into the tile. This time it counts who works. A warp in which some lanes "
        "add and others do not takes both ways, so no warp but the last one at work may diverge, "
        "and no lane may wait for another lane's bank. Loads are in order, all arithmetic is "
        "float32. Each thread writes at most one cell of out, and most of them none. NaN and "
        "infinities count as in any sum, each in its own piece."
    ),
    parameters={"block_sum_sequential": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=400),
        sized("one cell", size=1),
        sized("31 cells", size=31),
        sized("one cell more than threads", size=129),
        sized("exactly two blocks", size=512),
        sized("one cell more than two blocks", size=513),
        sized("700 large numbers", size=700, doublings=90),
        sized("infinities and a NaN", size=515, infinite=1),
    ),
    random_case=drawn(size=(260, 800)),
    inputs=with_special_numbers(arrays("size", a="size"), infinite=_put_special_numbers),
    launches=lambda case: (
        Launch("block_sum_sequential", _blocks(case), TPB, ("out", "a", "size")),
    ),
    reference=gives(lambda a: summed(pieces(a, SPAN))),
    budgets=(
        Budget(
            "divergent_branches",
            lambda case, counters: _divergent(case),
            "A warp goes through both sides of a branch on which its lanes disagree. Choose the "
            "threads that add so that they fill whole warps as long as there are 32 of them.",
            "divergent branches",
        ),
        Budget(
            "shared_load.conflicts",
            0,
            "Lanes that read different words of one bank are served one after the other. Which "
            "cells do neighbouring lanes read in the line below?",
            "bank conflicts in loads",
        ),
        Budget(
            "shared_store.conflicts",
            0,
            "Lanes that write different words of one bank are served one after the other. Which "
            "cells do neighbouring lanes write in the line below?",
            "bank conflicts in stores",
        ),
        an_atomic_a_warp(lambda case: WARPS * _blocks(case)),
        READ_IN_ORDER,
        NO_FLOAT64,
    ),
    diagnose=recognise(
        ("half-left-out", lambda a: summed([piece[:TPB] for piece in pieces(a, SPAN)])),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread touches a cell of the tile in the same step in which another one writes it. "
            "The lanes of a warp do not wait for each other either: between two steps of one warp "
            "something has to order them too."
        ),
        "out-of-bounds": (
            "An index lies outside its array. A thread brings two cells of a, and each of them may "
            "be missing while the other is there; the tile has a place for each thread, and no "
            "more."
        ),
        "inactive-lane": (
            "A shuffle names 32 lanes, and not all of them came to it. The lanes whose sum nobody "
            "wants have to take part as well."
        ),
        "half-left-out": (
            "Only the first half of each piece is in your sum. A block has twice as many cells as "
            "threads; which is the second cell of a thread?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Which threads are at work in a step is yours to choose. When 64 threads add, which 64 "
            "should that be, so that no warp has idle lanes among the busy ones?"
        ),
        (
            "Let the first threads work, and let each add the cell that lies half of the rest of "
            "the tile away. So neighbouring lanes touch neighbouring cells."
        ),
        (
            "The distances are 64, 32, 16, 8, 4, 2, 1, and in each step the threads below the "
            "distance add. From 32 on, the whole last warp can shuffle instead: the lanes that "
            "are not needed take part and do no harm."
        ),
    ),
    mistakes=(
        Mistake("every_second_thread", "over-budget", "over-budget"),
        Mistake("first_threads_far_cells", "over-budget", "over-budget"),
        Mistake("last_warp_without_waiting", "hazard", "race"),
        Mistake("one_guard_for_two_cells", "hazard", "out-of-bounds"),
        Mistake("half_of_the_lanes_shuffle", "hazard", "inactive-lane"),
        Mistake("first_half_only", "wrong-result", "half-left-out"),
        Mistake("one_thread_adds", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "SPAN": SPAN, "ALL_LANES": ALL_LANES},
    source=(
        "kernels 1 to 5 of Mark Harris, 'Optimizing Parallel Reduction in CUDA', NVIDIA, 2007, "
        "https://developer.download.nvidia.com/assets/cuda/files/reduction.pdf"
    ),
)
