"""Puzzle `fix_the_race`: three kernels that race."""

from __future__ import annotations

import math

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


def _race_launches(case: Case) -> tuple[Launch, ...]:
    grid = blocks_to_cover(case.sizes["size"], TPB)
    return (
        Launch("rotate_pieces", grid, TPB, ("rotated", "a", "size")),
        # Fewer blocks than rows, so that a block has to use its tile again.
        Launch("reverse_rows", 2, TPB, ("reversed", "table", "rows", "cols")),
        Launch("add_neighbours", grid, TPB, ("added", "a", "size", "rounds")),
    )


def _race_results(inputs: Values, case: Case) -> Values:
    return {
        "rotated": by_piece(inputs["a"], lambda piece: np.roll(piece, -1)),
        "reversed": inputs["table"][:, ::-1].copy(),
        "added": by_piece(inputs["a"], lambda piece: _added(piece, inputs["rounds"])),
    }


def _added(piece: np.ndarray, rounds: int) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # infinity less infinity
        for _ in range(rounds):
            piece = piece + np.concatenate([np.zeros(1, np.float32), piece[:-1]])
    return piece


def _race_barriers(case: Case) -> int:
    """One wait a row and one a round, where two tiles take turns."""
    blocks = blocks_to_cover(case.sizes["size"], TPB)
    return WARPS * (blocks + case.sizes["rows"] + blocks * (1 + case.sizes["rounds"]))


def _in_turn(piece: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        piece = np.cumsum(piece, dtype=np.float32)
    return piece


INFINITY_FIRST = (math.inf, -math.inf, math.nan, 0.0)
"""The first cell has no neighbour to its left: a NaN there would hide what else is added to it."""

DEBRIEF = Debrief(
    shows=("barriers", "shared_load.requests", "shared_store.requests"),
    why=(
        "Two accesses to one cell by different threads need a barrier between them whenever one of "
        "the two writes, whichever comes first. That holds from one turn of a loop to the next, "
        "too."
    ),
    alternative=(
        "One more barrier orders the turns of a loop. Two tiles used in turn do so as well, since "
        "no thread writes where others may still be reading."
    ),
    bonus=Bonus(
        goal="Let reverse_rows wait once a row, and add_neighbours once a round.",
        counter="barriers",
        limit=_race_barriers,
    ),
)

FIX_THE_RACE = KernelPuzzle(
    name="04_shared_memory/fix_the_race",
    title="three kernels that race",
    difficulty="hard",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Three finished kernels: one rotates every piece by a cell, one reverses rows, one adds "
        "neighbours again and again. Each has a race, and each in a different kind of place. Add "
        "as few barriers as will do. Keep the results as they are described, and the work shared "
        "as it is: of each row or piece, a thread writes at most one cell. a may hold NaN and "
        "infinities as well."
    ),
    parameters={
        "rotate_pieces": ("out", "a", "size"),
        "reverse_rows": ("out", "a", "rows", "cols"),
        "add_neighbours": ("out", "a", "size", "rounds"),
    },
    cases=(
        sized("visible example", visible=True, size=100, rows=5, cols=40, rounds=3),
        sized("one cell", size=1, rows=1, cols=1, rounds=1),
        sized("exactly two blocks", size=128, rows=4, cols=64, rounds=2),
        sized("fewer rows than blocks", size=129, rows=1, cols=33, rounds=0),
        sized("1,003 large numbers", size=1003, rows=9, cols=51, rounds=9, doublings=60),
        special("NaN and infinities", INFINITY_FIRST, size=131, rows=4, cols=41, rounds=3),
    ),
    random_case=drawn(size=(65, 500), rows=(3, 12), cols=(33, 65), rounds=(2, 6)),
    inputs=arrays("size", "rows", "cols", "rounds", a="size", table="rows cols"),
    launches=_race_launches,
    reference=_race_results,
    budgets=(
        Budget(
            "global_load.excess_sectors",
            lambda case, counters: counters.global_load.excess_sectors,
            "The tile is there so that global memory is read in order. Mend the waiting, and keep "
            "the tile.",
            fact="global memory is not read in order",
        ),
        Budget(
            "barriers",
            lambda case, counters: counters.barriers,
            "At every barrier all warps of the block wait for the slowest one. Keep those that "
            "stand between a write and a read of one cell by two threads.",
        ),
    ),
    diagnose=recognise(
        ("not-by-piece", lambda a: {"rotated": np.roll(a, -1)}),
        (
            "one-after-another",
            lambda a, rounds: {"added": by_piece(a, lambda piece: _in_turn(piece, rounds))},
        ),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "Two threads meet at one cell of the tile, and no barrier stands between the two "
            "accesses named above. A loop goes round: the first line of the next turn comes after "
            "the last line of this one. And a single line may read and write."
        ),
        "barrier-divergence": (
            "Now some threads of the block do not reach the barrier. It has to stand outside "
            "every condition that depends on the thread."
        ),
        "not-by-piece": (
            "The last cell of a piece should get the first one of the same piece; yours gets the "
            "next piece's."
        ),
        "one-after-another": (
            "Each cell was given a neighbour that had been changed in the same round. In a round "
            "all cells change at once: every neighbour counts as it was before."
        ),
    },
    share=Share(
        "Of each row or piece, a thread writes at most one cell.",
        lambda case, output: blocks_to_cover(case.sizes["rows"], 2) if output == "reversed" else 1,
    ),
    hints=(
        (
            "For each kernel, list the lines that touch the tile. Then ask of every pair: could "
            "two threads touch one cell there, and what stands between the two lines?"
        ),
        (
            "rotate_pieces lacks a barrier between bringing and taking, and a barrier may not "
            "stand in a guard. In reverse_rows look at two turns of the loop, one after the other. "
            "In add_neighbours the line in the middle is two accesses: a read and a write."
        ),
        (
            "rotate_pieces: two guards and a barrier between them. reverse_rows: one more "
            "barrier, before the next row comes into the tile. add_neighbours: keep the neighbour "
            "in a local variable first, wait, then add it, and wait again."
        ),
    ),
    mistakes=(
        Mistake("waited_before_the_write", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("waited_for_the_warp", "hazard", "race"),
        Mistake("fenced_and_did_not_wait", "hazard", "race"),
        Mistake("rotated_the_whole_array", "wrong-result", "not-by-piece"),
        Mistake("read_from_global", "over-budget", "over-budget"),
        Mistake("one_barrier_per_row", "hazard", "race", "reverse_rows"),
        Mistake("moved_the_barrier", "hazard", "race", "reverse_rows"),
        Mistake("second_barrier_after_the_loop", "hazard", "race", "reverse_rows"),
        Mistake("a_barrier_after_every_line", "over-budget", "over-budget", "reverse_rows"),
        Mistake("barriers_around_the_sum", "hazard", "race", "add_neighbours"),
        Mistake("no_wait_after_the_write", "hazard", "race", "add_neighbours"),
        Mistake("barrier_without_thread_0", "hazard", "barrier-divergence", "add_neighbours"),
        Mistake("one_thread_from_the_left", "wrong-result", "one-after-another", "add_neighbours"),
        Mistake("one_thread_does_it_all", "over-budget", "not-shared", stands_for="add_neighbours"),
        Mistake("one_barrier_too_many", "over-budget", "over-budget"),
    ),
    constants={"TPB": TPB},
    points=15,
    equivalent_mutants={
        f"add_neighbours:constant:tile[t] = a[i] if i < size else float32({filler})": (
            "numbers only travel to the right, and no cell has one of these places to its left"
        )
        for filler in (1, -1)
    },
)
