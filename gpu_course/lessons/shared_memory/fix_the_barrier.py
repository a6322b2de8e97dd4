"""Puzzle `fix_the_barrier`: three barriers that not everyone reaches."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import OUTSIDE_THE_TILE, TPB, WARPS, by_piece
from gpu_course.puzzle.builders import arrays, blocks_to_cover, drawn, recognise, sized, special
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)

HALF = TPB // 2


def _barrier_launches(case: Case) -> tuple[Launch, ...]:
    grid = blocks_to_cover(case.sizes["size"], TPB)
    return (
        Launch("shift_right", grid, TPB, ("shifted", "a", "size")),
        Launch("exchange_halves", grid, TPB, ("exchanged", "a", "size")),
        Launch("reverse_chunks", case.sizes["rows"], TPB, ("reversed", "table", "cols")),
    )


def _barrier_results(inputs: Values, case: Case) -> Values:
    nothing = np.zeros(1, np.float32)
    chunks = [
        inputs["table"][:, first : first + TPB][:, ::-1] for first in range(0, inputs["cols"], TPB)
    ]
    return {
        "shifted": by_piece(inputs["a"], lambda piece: np.concatenate([nothing, piece[:-1]])),
        "exchanged": _exchanged(inputs["a"], np.float32(-1)),
        "reversed": np.concatenate(chunks, axis=1),
    }


def _exchanged(a: np.ndarray, sign: np.float32) -> np.ndarray:
    """Every piece with its halves exchanged, what comes from the upper half times `sign`."""
    full = np.zeros(blocks_to_cover(len(a), TPB) * TPB, np.float32)
    full[: len(a)] = a
    lower, upper = full.reshape(-1, 2, HALF).transpose(1, 0, 2)
    exchanged: np.ndarray = np.stack([sign * upper, lower], axis=1).reshape(-1)[: len(a)]
    return exchanged


def _chunk_barriers(case: Case) -> int:
    """One wait a chunk, where two tiles take turns."""
    blocks = blocks_to_cover(case.sizes["size"], TPB)
    chunks = blocks_to_cover(case.sizes["cols"], TPB)
    return WARPS * (2 * blocks + case.sizes["rows"] * chunks)


DEBRIEF = Debrief(
    shows=("barriers", "divergent_branches"),
    why=(
        "A barrier counts the threads of the whole block, so it has to stand where all of them "
        "reach it, equally often. Work for only some of the threads goes into a guard before or "
        "after it."
    ),
    alternative=(
        "A loop whose bounds are the same for all threads, with a guard in it, is the usual form. "
        "Another is a flag that every thread computes and only some use."
    ),
    bonus=Bonus(
        goal="Let reverse_chunks wait once a chunk.",
        counter="barriers",
        limit=_chunk_barriers,
    ),
)

FIX_THE_BARRIER = KernelPuzzle(
    name="04_shared_memory/fix_the_barrier",
    title="three barriers that not everyone reaches",
    difficulty="hard",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Three finished kernels, with a barrier wherever one is needed. In each, some threads do "
        "not reach it: it stands behind a guard, in one of two branches, or in a loop that some "
        "threads leave earlier. On a GPU such a block may hang, or run on with half of its "
        "numbers. Let every thread of the block reach every barrier. Keep the results, and the "
        "work shared as it is: of each chunk or piece, a thread writes at most one cell. a may "
        "hold NaN and infinities as well."
    ),
    parameters={
        "shift_right": ("out", "a", "size"),
        "exchange_halves": ("out", "a", "size"),
        "reverse_chunks": ("out", "a", "cols"),
    },
    cases=(
        sized("visible example", visible=True, size=100, rows=2, cols=100),
        sized("one cell", size=1, rows=1, cols=1),
        sized("whole blocks only", size=128, rows=3, cols=128),
        sized("one cell more than two blocks", size=129, rows=2, cols=129),
        sized("a row shorter than a chunk", size=1003, rows=5, cols=40),
        sized("large numbers, seven chunks", size=65, rows=2, cols=400, doublings=100),
        special("NaN and infinities", size=131, rows=3, cols=131),
    ),
    random_case=drawn(size=(65, 500), rows=(2, 6), cols=(65, 300)),
    inputs=arrays("size", "rows", "cols", a="size", table="rows cols"),
    launches=_barrier_launches,
    reference=_barrier_results,
    budgets=(
        Budget(
            "barriers",
            lambda case, counters: counters.barriers,
            "At every barrier all warps of the block wait for the slowest one. Keep those that "
            "stand between a write and a read of one cell by two threads.",
        ),
    ),
    diagnose=recognise(
        ("lost-sign", lambda a: {"exchanged": _exchanged(a, np.float32(1))}),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "barrier-divergence": (
            "Compare two threads of the block: the first, and one that has no cell, takes the "
            "other branch, or leaves the loop first. How often does each of them reach this line? "
            "The numbers must be the same."
        ),
        "race": (
            "Two threads meet at one cell of the tile, and no barrier makes either of them wait. "
            "The finished kernels had one between such accesses: wherever you move it, it has to "
            "stay between them, in a place that all threads reach."
        ),
        "out-of-bounds": (
            "An index lies outside its array. Threads without a cell have to reach the barrier, "
            "and must not touch memory: take the barrier out of the guard, not the guard away. And "
            "a place HALF further on, or a chunk's last one, may lie past the end."
        ),
        "lost-sign": (
            "The halves are exchanged, but the numbers of the upper half should change their sign "
            "as well."
        ),
        "tail-unwritten": (
            "The last chunk of a row is shorter than the others, and has to be done as well: let "
            "all threads take part in it, and guard the accesses."
        ),
    },
    share=Share(
        "Of each chunk or piece, a thread writes at most one cell.",
        lambda case, output: (
            blocks_to_cover(case.sizes["cols"], TPB) if output == "reversed" else 1
        ),
    ),
    hints=(
        (
            "Work and waiting are two things. Work may be behind a condition; waiting may not, "
            "unless the condition is the same for all threads of the block."
        ),
        (
            "shift_right: one guard becomes two. exchange_halves: what do the branches have in "
            "common, and what is really different? reverse_chunks: let the loop run over the "
            "first columns of the chunks, which are the same for all threads."
        ),
        (
            "exchange_halves needs one barrier for both halves: only what is stored depends on "
            "the half, and each thread takes the number HALF places further on, wrapping round at "
            "the end. In reverse_chunks every thread goes round the loop once for each chunk; the "
            "guards are around the accesses, not the barriers."
        ),
    ),
    mistakes=(
        Mistake("took_the_barrier_out", "hazard", "race"),
        Mistake("returned_early", "hazard", "barrier-divergence"),
        Mistake("a_barrier_for_those_left_over", "hazard", "barrier-divergence"),
        Mistake("took_the_guard_out", "hazard", "out-of-bounds"),
        Mistake("barrier_after_the_read", "hazard", "race"),
        Mistake("one_branch_waits", "hazard", "barrier-divergence", "exchange_halves"),
        Mistake("lost_the_sign", "wrong-result", "lost-sign", "exchange_halves"),
        Mistake("guard_around_the_barriers", "hazard", "barrier-divergence", "reverse_chunks"),
        Mistake("broke_out_of_the_loop", "hazard", "barrier-divergence", "reverse_chunks"),
        Mistake("one_barrier_per_chunk", "hazard", "race", "reverse_chunks"),
        Mistake("whole_chunks_only", "wrong-result", "tail-unwritten", "reverse_chunks"),
        Mistake("one_thread_and_no_barrier", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "HALF": HALF},
    points=15,
    equivalent_mutants={
        "exchange_halves:operator:taken = tile[(t - HALF) % TPB]": (
            "half a ring further is the same place either way round"
        ),
        "exchange_halves:other-name:taken = tile[(i + HALF) % TPB]": (
            "i and t differ by whole pieces, which the remainder takes away"
        ),
    },
)
