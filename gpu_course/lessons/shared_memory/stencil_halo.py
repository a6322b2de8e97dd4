"""Puzzle `stencil_halo`: each cell and its two neighbours."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import (
    CASES,
    OUTSIDE_THE_TILE,
    TPB,
    WARP,
    clamped_bytes,
    random_case,
    starts,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    enough_blocks,
    gives,
    recognise,
)
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Mistake,
    Values,
)


def _cells_with_halo(case: Case) -> int:
    size = case.sizes["size"]
    return sum(min(start + TPB + 1, size) - max(start - 1, 0) for start in starts(size))


def _stencil(a: np.ndarray) -> np.ndarray:
    left, right = _neighbours(a)
    return left - 2 * a + right


def _neighbours(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    nothing = np.zeros(1, np.float32)
    return np.concatenate([nothing, a[:-1]]), np.concatenate([a[1:], nothing])


def _halo_of_zeros(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    return {"out": np.concatenate([_stencil(a[start : start + TPB]) for start in starts(len(a))])}


def _wrong_side(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    left, right = _neighbours(a)
    for start in starts(len(a)):
        after = start + TPB
        left[start] = a[after] if after < len(a) else 0
        if after <= len(a):
            right[after - 1] = a[start - 1] if start else 0
    return {"out": left - 2 * a + right}


def _forgot_offset(inputs: Values) -> dict[str, np.ndarray]:
    beyond = np.concatenate([inputs["a"], np.zeros(2, np.float32)])
    return {"out": beyond[:-2] - 2 * beyond[1:-1] + beyond[2:]}


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "Each block loads the two cells beyond its borders itself, so no block has to wait for "
        "another. After the barrier all neighbours are in the tile, whoever brought them."
    ),
    alternative=(
        "A loop over all places of the tile treats every place alike. Two extra loads by the "
        "threads at the ends do it as well."
    ),
    bonus=Bonus(
        goal="Two reads of the tile per cell are enough.",
        counter="shared_load.requests",
        limit=lambda case: 2 * blocks_to_cover(case.sizes["size"], WARP),
    ),
)

STENCIL_HALO = KernelPuzzle(
    name="04_shared_memory/stencil_halo",
    title="each cell and its two neighbours",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "out[i] = a[i - 1] - 2 * a[i] + a[i + 1], and a neighbour that does not exist counts as "
        "0. Each thread writes at most one cell. The first and the last cell of a block have a "
        "neighbour in another block, so give the tile one more place at each side, the halo, and "
        "load every cell that a block needs once. NaN and infinities count as in any sum."
    ),
    parameters={"stencil_halo": ("out", "a", "size")},
    cases=CASES,
    random_case=random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("stencil_halo", "out", "a", "size", block=TPB),
    reference=gives(lambda a: _stencil(a)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: (
                4 * _cells_with_halo(case) + clamped_bytes(len(starts(case.sizes["size"])))
            ),
            "A block needs its own cells and one more at each side that has a neighbour; whatever "
            "is loaded beyond that could come from the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=recognise(
        ("halo-of-zeros", _halo_of_zeros),
        ("wrong-side", _wrong_side),
        ("forgot-offset", _forgot_offset),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread uses cells that its neighbours bring, and nothing makes it wait for them. "
            "What has to stand between filling the tile and using it?"
        ),
        "barrier-divergence": (
            "Only some threads load the halo, or have a cell, and the barrier is for all of them. "
            "Move it out of every condition."
        ),
        "uninitialised-read": (
            "A place of the tile was used, and no thread had filled it. Every place from tile[0] "
            "to the right neighbour of the last cell needs a number: a cell of another block, or "
            "0 where the array has ended."
        ),
        "out-of-bounds": (
            "An index lies outside its array. The halo of the first block begins before a, and "
            "that of the last one ends behind it: what belongs in those places? The tile itself "
            "has SPAN of them."
        ),
        "halo-of-zeros": (
            "The first and the last cell of a block are wrong, except at the ends of the array: "
            "their neighbours exist, in another block's piece. Only the ends of the array count "
            "as 0."
        ),
        "wrong-side": (
            "The two cells of the halo have changed places: tile[0] is for the cell to the left "
            "of the piece, the last place for the one to its right."
        ),
        "forgot-offset": (
            "Your tile begins with the piece itself, and the halo's left place is missing: cell "
            "start + t belongs at tile[t + 1]."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "There are SPAN places to fill and TPB threads to do it. Which threads fill a second "
            "place?"
        ),
        (
            "Place k of the tile is for cell start - 1 + k of the array. A loop that starts at t "
            "and steps by TPB gives every place one thread; a place whose cell does not exist gets "
            "a 0."
        ),
        (
            "Fill all places first, wait for the whole block, then let the threads that have a "
            "cell work: t, t + 1 and t + 2 are the three places around it. Check both ends of the "
            "array when you load."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("barrier_in_the_halo", "hazard", "barrier-divergence"),
        Mistake("no_halo", "hazard", "uninitialised-read"),
        Mistake("nothing_behind_the_end", "hazard", "uninitialised-read"),
        Mistake("halo_without_a_guard", "hazard", "out-of-bounds"),
        Mistake("halo_of_zeros", "wrong-result", "halo-of-zeros"),
        Mistake("halo_on_the_wrong_side", "wrong-result", "wrong-side"),
        Mistake("forgot_the_offset", "wrong-result", "forgot-offset"),
        Mistake("no_tile_at_all", "over-budget", "over-budget"),
        Mistake("one_thread_fills_the_tile", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "SPAN": TPB + 2},
)
