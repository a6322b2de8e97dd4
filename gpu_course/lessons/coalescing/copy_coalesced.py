"""Puzzle `copy_coalesced`: several cells for each thread, in order."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, loads_in_order, stores_in_order
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn,
    gives,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Launch, Mistake, Share

PER_THREAD = 4
PIECE = TPB * PER_THREAD

DEBRIEF = Debrief(
    shows=("global_load.requests", "global_load.sectors", "global_store.sectors"),
    why=(
        "The cells that a warp loads together, and those that it stores together, fill the sectors "
        "they lie in. Which lane has which of them does not matter; that no byte is moved in vain "
        "does."
    ),
    alternative=(
        "A grid-stride loop is in order as well. What differs is how many loads are under way: a "
        "thread that loads all its cells before it stores the first waits once and not four times."
    ),
)

COPY_COALESCED = KernelPuzzle(
    name="03_coalescing/copy_coalesced",
    title="several cells for each thread, in order",
    difficulty="easy",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "Copy `a` to `out`. A block of TPB threads has a piece of TPB * PER_THREAD neighbouring "
        "cells, and each thread copies at most PER_THREAD cells. Choose which ones so that no "
        "load and no store touches more sectors than its bytes need. a may hold NaN and "
        "infinities as well."
    ),
    parameters={"copy_coalesced": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=300),
        sized("one cell", size=1),
        sized("exactly two pieces", size=2 * PIECE),
        sized("one cell more than two pieces", size=2 * PIECE + 1),
        sized("1,003 large numbers", size=1003, doublings=100),
        special("NaN and infinities", size=301),
    ),
    random_case=drawn(size=(PIECE + 1, 1400)),
    inputs=arrays("size", a="size"),
    launches=lambda case: (
        Launch(
            "copy_coalesced",
            blocks_to_cover(case.sizes["size"], PIECE),
            TPB,
            ("out", "a", "size"),
        ),
    ),
    reference=gives(lambda a: a.copy()),
    budgets=(
        loads_in_order(
            "The 32 lanes of a warp load at the same moment. Which cells do lanes 0, 1 and 2 "
            "load in one such moment, and do they lie side by side?"
        ),
        stores_in_order(
            "The 32 lanes of a warp store at the same moment. Which cells do lanes 0, 1 and 2 "
            "write in one such moment, and do they lie side by side?"
        ),
    ),
    diagnose=recognise(
        ("one-each", lambda a: where_written(a, np.arange(len(a)) % PIECE < TPB)),
        ("chunks-in", lambda a: _chunks_in(a)),
    ),
    diagnoses={
        "race": (
            "Two threads copy one cell, so the cells are not dealt out properly. How far apart are "
            "the cells of one thread, and how far apart do the blocks begin?"
        ),
        "out-of-bounds": (
            "A thread's first cell may exist, and its last one not. What does the guard compare?"
        ),
        "one-each": (
            "Only the first TPB cells of each piece arrived. A thread has up to PER_THREAD cells: "
            "where is its second one?"
        ),
        "chunks-in": (
            "A cell was stored in another place than it was loaded from: the two indices follow "
            "different rules. Which of them is in order?"
        ),
    },
    share=Share("Each thread copies at most PER_THREAD cells.", PER_THREAD),
    hints=(
        (
            "What counts is not which cells one thread gets in the end. It is which cells the 32 "
            "lanes of a warp touch in the same instruction."
        ),
        (
            "In the first round the TPB threads of a block should take the first TPB cells of its "
            "piece, one after the other. Where does the second round begin?"
        ),
        (
            "So the cells of one thread are TPB apart. Its first one is the start of the piece and "
            "its number in the block, and each cell needs a guard of its own."
        ),
    ),
    mistakes=(
        Mistake("a_chunk_for_each_thread", "over-budget", "over-budget"),
        Mistake("two_neighbours_at_a_time", "over-budget", "over-budget"),
        Mistake("chunks_in_and_rows_out", "wrong-result", "chunks-in"),
        Mistake("steps_by_a_warp", "hazard", "race"),
        Mistake("blocks_too_close", "hazard", "race"),
        Mistake("guards_the_first_cell_alone", "hazard", "out-of-bounds"),
        Mistake("one_cell_for_each_thread", "wrong-result", "one-each"),
        Mistake("one_thread_copies_the_piece", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "PER_THREAD": PER_THREAD},
    source=(
        "after NVIDIA, CUDA C++ Best Practices Guide, 'Coalesced Access to Global Memory', "
        "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/"
    ),
)


def _chunks_in(a: np.ndarray) -> np.ndarray:
    """What is stored in order after each thread has loaded neighbouring cells."""
    place = np.arange(len(a))
    within = place % PIECE
    loaded = place - within + within % TPB * PER_THREAD + within // TPB
    there = loaded < len(a)
    return where_written(a[np.where(there, loaded, 0)], there)
