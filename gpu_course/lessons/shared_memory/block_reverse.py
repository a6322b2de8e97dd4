"""Puzzle `block_reverse`: every block turns its piece round."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import (
    CASES,
    OUTSIDE_THE_TILE,
    TPB,
    by_piece,
    random_case,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, enough_blocks, gives, recognise
from gpu_course.puzzle.specification import Budget, Debrief, KernelPuzzle, Mistake

BACKWARDS = (
    "A warp that goes through whole sectors backwards touches no more of them. A piece whose end "
    "lies within a sector begins there, counted backwards, and its warps touch one too many. "
)

DEBRIEF = Debrief(
    shows=("global_load.sectors", "global_store.sectors", "barriers"),
    why=(
        "The tile is where the order changes, so global memory is read and written in order. The "
        "barrier between the two halves makes sure that a number is there before it is taken."
    ),
    alternative=(
        "Turn the piece round when you bring it in, or when you take it out: both are right. "
        "Either way, take care of the last piece, which may be shorter."
    ),
)

BLOCK_REVERSE = KernelPuzzle(
    name="04_shared_memory/block_reverse",
    title="every block turns its piece round",
    difficulty="medium",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "A block has TPB cells of a. Write the kernel that puts them into out in reverse order, "
        "each block within its own piece; the last piece may be shorter. Bring the cells into a "
        "tile of shared memory, wait, and take them out the other way round: each thread writes "
        "at most one cell, and loads and stores of global memory both go along the array in "
        "order. a may hold NaN and infinities as well."
    ),
    parameters={"block_reverse": ("out", "a", "size")},
    cases=CASES,
    random_case=random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("block_reverse", "out", "a", "size", block=TPB),
    reference=gives(lambda a: by_piece(a, np.flip)),
    budgets=(
        Budget(
            "global_load.excess_sectors",
            0,
            BACKWARDS + "Let thread t read cell t of the piece, and do the turning in the tile.",
            "excess sectors in loads",
        ),
        Budget(
            "global_store.excess_sectors",
            0,
            BACKWARDS + "Let thread t write cell t of the piece, and do the turning in the tile.",
            "excess sectors in stores",
        ),
    ),
    diagnose=recognise(
        ("whole-array", lambda a: a[::-1]),
        ("copied-input", lambda a: a),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread takes from the tile what another thread brings, and nothing makes it wait "
            "for that. A warp is not a block: the other warp may be far behind. Which line must "
            "all threads of the block have finished before the first cell is taken out?"
        ),
        "barrier-divergence": (
            "A barrier waits for the whole block, including the threads without a cell. Put the "
            "guard around what touches memory, and end it before the barrier."
        ),
        "uninitialised-read": (
            "In the last block some places of the tile were never filled, and a thread takes its "
            "number from there. How many cells does that block have, and which is its last?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. Cells are counted from 0, in a and out as in the "
            "tile. Which threads of the last block have a cell, and what does thread 0 ask for in "
            "a full one?"
        ),
        "whole-array": (
            "The whole array is turned round. Each block should turn its own piece and leave it in "
            "its place."
        ),
        "copied-input": (
            "Every cell came out where it went in. Which place of the tile belongs to thread t?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Two steps with a wait between them: every thread brings one cell into the tile; "
            "every thread takes a different one out."
        ),
        (
            "Thread 0 takes what the last thread of the piece has brought, thread 1 the one "
            "before. In the last block the piece may be shorter than the tile; work out its length "
            "from `size` and `start`."
        ),
        (
            "Two guards, one around bringing and one around taking, and the barrier between them "
            "at the outermost level, where threads without a cell reach it too. The piece's "
            "length is TPB or what is left of the array, whichever is less."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("waited_for_the_warp", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("left_before_the_barrier", "hazard", "barrier-divergence"),
        Mistake("mirrored_a_full_tile", "hazard", "uninitialised-read"),
        Mistake("mirrored_at_the_length", "hazard", "out-of-bounds"),
        Mistake("turned_the_whole_array", "wrong-result", "whole-array"),
        Mistake("only_copied", "wrong-result", "copied-input"),
        Mistake("read_global_backwards", "over-budget", "over-budget"),
        Mistake("wrote_global_backwards", "over-budget", "over-budget"),
        Mistake("one_thread_fills_the_tile", "over-budget", "not-shared"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB},
    source=(
        "the idea of 'Shared' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles, "
        "with an order that a tile is needed for"
    ),
)
