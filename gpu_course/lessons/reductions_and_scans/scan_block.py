"""Puzzle `scan_block`: the sums up to each number, block by block."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
    barriers_of,
    in_tiles,
    running,
    running_in_tiles,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES, NO_FLOAT64
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn,
    enough_blocks,
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
    Mistake,
    Values,
)

TPB = 128
WARPS = TPB // WARP


def _put_special_numbers(values: Values) -> None:
    """An infinity in the third warp of the first piece and the first of the last, a NaN between."""
    values["a"][[70, 2 * TPB + 5, -1]] = np.inf
    values["a"][TPB + 40] = np.nan


def _every_lane_adds(a: np.ndarray) -> np.ndarray:
    """A shuffle that finds no lane gives the own number back, and it is added."""
    found = []
    for piece in in_tiles(a, TPB):
        whole = np.zeros(TPB, np.float32)
        whole[: len(piece)] = piece
        warps = whole.reshape(WARPS, WARP)
        step = 1
        while step < WARP:
            lanes = np.arange(WARP)
            warps = warps + warps[:, np.where(lanes >= step, lanes - step, lanes)]
            step *= 2
        before = np.concatenate([[0], np.cumsum(warps[:-1, -1])]).astype(np.float32)
        found.append((warps + before[:, None]).reshape(-1)[: len(piece)])
    return np.concatenate(found)


def _only_the_warp_before(a: np.ndarray) -> np.ndarray:
    """To each warp the sum of the one before it is added, and no more."""
    found = []
    for piece in in_tiles(a, TPB):
        warps = in_tiles(piece, WARP)
        sums = [np.float32(0), *(warp.sum(dtype=np.float32) for warp in warps)]
        found += [running(warp) + sums[number] for number, warp in enumerate(warps)]
    return np.concatenate(found)


def _waits_of_the_bonus(case: Case) -> int:
    return WARPS * -(-case.sizes["size"] // TPB)


DEBRIEF = Debrief(
    shows=("shuffles", "barriers", "shared_store.requests"),
    why=(
        "A warp can scan 32 numbers in five steps, and needs no barrier for that. So the block "
        "only has to meet where the sum of one part reaches the next, which is twice at most."
    ),
    alternative=(
        "The sums of the warps can be scanned by one warp, or each thread can add up those of the "
        "warps before its own: with a few warps that is as quick."
    ),
    bonus=Bonus(
        goal="The block meets only once.",
        counter="barriers",
        limit=_waits_of_the_bonus,
    ),
)

SCAN_BLOCK = KernelPuzzle(
    name="05_reductions_and_scans/scan_block",
    title="sums up to each number",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "An inclusive scan, block by block. Each block has a piece of TPB numbers, and the last "
        "piece may be shorter: out[i] is the sum of the piece's numbers from its first up to a[i], "
        "a[i] included. Each thread writes at most one cell, and the block meets at two barriers "
        "at most. A NaN or an infinity counts in the sums from its place on, to the end of its "
        "piece."
    ),
    parameters={"scan_block": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=150),
        sized("one cell", size=1),
        sized("exactly two blocks", size=256),
        sized("one cell more than two blocks", size=257),
        sized("500 large numbers", size=500, doublings=100),
        sized("infinities and a NaN", size=300, infinite=1),
    ),
    random_case=drawn(size=(129, 700)),
    inputs=with_special_numbers(arrays("size", a="size"), infinite=_put_special_numbers),
    launches=enough_blocks("scan_block", "out", "a", "size", block=TPB),
    reference=gives(lambda a: running_in_tiles(a, TPB)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each thread needs all numbers before its own, and only their sum. The threads can "
            "hand sums on; then each number comes from global memory once.",
            "bytes loaded from a",
        ),
        barriers_of(
            2,
            WARPS,
            "At every barrier all warps of the block wait for the slowest one. Within a warp no "
            "barrier is needed: let each warp scan its numbers by shuffles, and let the block meet "
            "only over the sums of the warps.",
        ),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    diagnose=recognise(
        ("exclusive", lambda a: running_in_tiles(a, TPB) - a),
        ("warps-alone", lambda a: running_in_tiles(a, WARP)),
        ("one-warp-before", _only_the_warp_before),
        ("own-number-again", _every_lane_adds),
    ),
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "A thread touches a cell of shared memory that another thread writes in the same "
            "interval between two barriers. What makes it wait until the number is there, and "
            "until everybody has read it before it changes?"
        ),
        "exclusive": (
            "Each of your sums ends one number early: that is an exclusive scan. In an inclusive "
            "one the thread's own number counts as well."
        ),
        "warps-alone": (
            "Each warp of 32 begins at zero again. What do the warps before it in the block have "
            "to tell it?"
        ),
        "one-warp-before": (
            "The first two warps are right. To the others the sum of one warp was added, and more "
            "than one stands before them."
        ),
        "own-number-again": (
            "Some numbers are added too often. A shuffle that reaches below lane 0 finds nobody, "
            "and gives a lane its own number back."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Two levels: 32 numbers within a warp, then one number for each warp. The first level "
            "needs no shared memory at all."
        ),
        (
            "In the warp, the distance doubles: 1, 2, 4, 8, 16. In each step a lane takes the sum "
            "of the lane so far to the left, if there is one, and adds it to its own."
        ),
        (
            "After that the last lane of a warp holds the warp's sum. Put it into shared memory, "
            "wait, let one warp scan these few sums in the same way, wait, and add to each thread "
            "what stands before its warp."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("in_place", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("shuffles_behind_the_guard", "hazard", "inactive-lane"),
        Mistake("every_lane_adds", "wrong-result", "own-number-again"),
        Mistake("exclusive", "wrong-result", "exclusive"),
        Mistake("sums_not_scanned", "wrong-result", "one-warp-before"),
        Mistake("each_warp_alone", "wrong-result", "warps-alone"),
        Mistake("two_tiles_in_turn", "over-budget", "over-budget"),
        Mistake("adds_up_from_the_start", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    equivalent_mutants={
        "scan_block:constant:x = a[i] if i < size else float32(1)": (
            "beyond the last number nobody wants a sum"
        ),
        "scan_block:constant:x = a[i] if i < size else float32(-1)": (
            "beyond the last number nobody wants a sum"
        ),
        "scan_block:comparison:while step <= WARP:": "no lane lies a whole warp to the left",
        "scan_block:constant:if warp == 1:": "any one warp may scan the sums of the warps",
        "scan_block:constant:total = sums[lane] if lane < WARPS else float32(1)": (
            "a lane beyond the warps brings its sum to none below it"
        ),
        "scan_block:constant:total = sums[lane] if lane < WARPS else float32(-1)": (
            "a lane beyond the warps brings its sum to none below it"
        ),
        "scan_block:comparison:while step <= WARPS:": (
            "one step more reaches lanes beyond the warps alone"
        ),
    },
    constants={"TPB": TPB, "WARPS": WARPS, **WARP_CONSTANTS},
    source="W. Daniel Hillis, Guy L. Steele, Data Parallel Algorithms, CACM 29 (12), 1986",
)
