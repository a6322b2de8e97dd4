"""Puzzle `block_sum`: every block adds up its piece."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.sums import (
    NO_FLOAT64,
    OUTSIDE_THE_TILE,
    TPB,
    VECTORS,
    WARPS,
    an_atomic_a_warp,
    pieces,
    random_vector,
    summed,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    enough_blocks,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Budget, Debrief, KernelPuzzle, Mistake, Values


def _put_special_numbers(values: Values) -> None:
    """A NaN in the first piece, an infinity as the last number of the last."""
    values["a"][3], values["a"][-1] = np.nan, np.inf


def _only(a: np.ndarray, places: slice) -> np.ndarray:
    """The sums of those cells of each piece that lie at some places of a full tile."""
    full = [np.pad(piece, (0, TPB - len(piece))) for piece in pieces(a, TPB)]
    return summed([piece[places] for piece in full])


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "Each step leaves fewer partial sums, and many threads add in it at the same time: so the "
        "last one is reached after few steps. A barrier or a shuffle makes sure that a step finds "
        "what the one before has left."
    ),
    alternative=(
        "Which cells meet first is free, since addition can be done in any order: neighbours, or "
        "the first half with the second. It is not free what it costs, as the next puzzle shows."
    ),
)

BLOCK_SUM = KernelPuzzle(
    name="05_reductions_and_scans/block_sum",
    title="every block adds up its piece",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "A block has TPB cells of a; the last piece may be shorter. Write the kernel that leaves "
        "the sum of each piece in out, a cell for each block. Each number comes from global memory "
        "once. The adding is a tree: it has about log2(TPB) steps, and in a step many threads add "
        "at the same time. All arithmetic is float32. Each thread writes at most one cell of out, "
        "and most of them none. NaN and infinities count as in any sum, each in its own piece."
    ),
    parameters={"block_sum": ("out", "a", "size")},
    cases=(*VECTORS, sized("infinities and a NaN", size=300, infinite=1)),
    random_case=random_vector,
    inputs=with_special_numbers(arrays("size", a="size"), infinite=_put_special_numbers),
    launches=enough_blocks("block_sum", "out", "a", "size", block=TPB),
    reference=gives(lambda a: summed(pieces(a, TPB))),
    budgets=(
        Budget(
            "barriers",
            lambda case, counters: counters.barriers,
            "A step needs one barrier after it. In a step nobody reads a cell that another thread "
            "writes, if those who add are chosen well.",
            "barriers, counted warp by warp",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each number should come from global memory once; after that it is in the tile.",
            "bytes loaded from a",
        ),
        an_atomic_a_warp(lambda case: WARPS * blocks_to_cover(case.sizes["size"], TPB)),
        NO_FLOAT64,
    ),
    diagnose=recognise(
        ("step-missing", lambda a: _only(a, slice(0, None, 2))),
        ("step-missing", lambda a: _only(a, slice(0, TPB // 2))),
        ("first-piece", lambda a: np.full_like(summed(pieces(a, TPB)), summed([a[:TPB]])[0])),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "Within a step one thread adds to a cell while another one reads it, or a step begins "
            "before the one before is over. Which threads add in a step, which cells do they read, "
            "and what do all threads wait for?"
        ),
        "barrier-divergence": (
            "A barrier waits for the whole block, also for the threads that add nothing in this "
            "step. End the guard before it."
        ),
        "uninitialised-read": (
            "The last piece is shorter than the tile, and the tree adds places that no thread "
            "filled. Which number changes no sum?"
        ),
        "step-missing": (
            "Your sum holds every second cell, or the first half, and the other cells are missing. "
            "If yours is a tree: how many partial sums are left after its last step?"
        ),
        "first-piece": (
            "All blocks have the sum of the first piece. Which cell of a does thread t of block b "
            "bring?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Three parts: bring the piece into the tile, let it shrink in a loop, have one thread "
            "store what is left. A thread without a cell brings the number that changes no sum."
        ),
        (
            "Let a distance begin at half the tile and halve it in each round. In a round, each "
            "thread below that distance adds the cell that lies the distance beyond its own."
        ),
        (
            "The loop and its barrier are for all threads; only the addition has a guard. The "
            "last round has distance 1, and then cell 0 of the tile holds the sum."
        ),
    ),
    mistakes=(
        Mistake("no_barrier_in_the_loop", "hazard", "race"),
        Mistake("everybody_adds", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("nothing_where_no_cell_is", "hazard", "uninitialised-read"),
        Mistake("one_step_short", "wrong-result", "step-missing"),
        Mistake("first_piece_only", "wrong-result", "first-piece"),
        Mistake("two_barriers_a_step", "over-budget", "over-budget"),
        Mistake("one_thread_adds", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB},
    equivalent_mutants={
        "block_sum:constant:if t == 1:": "any one thread may store the sum, which lies in cell 0"
    },
    source=(
        "after Mark Harris, 'Optimizing Parallel Reduction in CUDA', NVIDIA, 2007, "
        "https://developer.download.nvidia.com/assets/cuda/files/reduction.pdf"
    ),
)
