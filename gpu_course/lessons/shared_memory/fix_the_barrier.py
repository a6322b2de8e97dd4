"""Puzzle `fix_the_barrier`: three barriers that not everyone reaches."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import TPB, WARPS, by_piece
from gpu_course.puzzle.builders import arrays, blocks_to_cover, drawn_case, sized, special
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
    Launch,
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


FIX_THE_BARRIER = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100, rows=2, cols=100),
        sized("one cell", size=1, rows=1, cols=1),
        sized("whole blocks only", size=128, rows=3, cols=128),
        sized("one cell more than two blocks", size=129, rows=2, cols=129),
        sized("a row shorter than a chunk", size=1003, rows=5, cols=40),
        sized("large numbers, seven chunks", size=65, rows=2, cols=400, doublings=100),
        special("NaN and infinities", size=131, rows=3, cols=131),
    ),
    random_case=drawn_case(size=(65, 500), rows=(2, 6), cols=(65, 300)),
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
    share=Share(
        "Of each chunk or piece, a thread writes at most one cell.",
        lambda case, output: (
            blocks_to_cover(case.sizes["cols"], TPB) if output == "reversed" else 1
        ),
    ),
    bonus=Bonus(
        "barriers",
        _chunk_barriers,
    ),
)
