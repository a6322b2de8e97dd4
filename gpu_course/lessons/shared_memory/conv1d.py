"""Puzzle `conv1d`: weights moved along the array."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import OUTSIDE_THE_TILE, TPB, clamped_bytes, starts
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    drawn,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Mistake, Values

MAX_TAPS = 16


def _convolved(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    beyond = np.concatenate([a, np.zeros(len(w) - 1, np.float32)])
    products = [weight * beyond[k : k + len(a)] for k, weight in enumerate(w)]
    return np.asarray(np.sum(products, axis=0, dtype=np.float32))


def _stopped_at_block(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    pieces = [_convolved(a[start : start + TPB], inputs["w"]) for start in starts(len(a))]
    return {"out": np.concatenate(pieces)}


def _causal(inputs: Values) -> dict[str, np.ndarray]:
    a, w = inputs["a"], inputs["w"]
    before = np.concatenate([np.zeros(len(w) - 1, np.float32), a])
    products = [weight * before[k : k + len(a)] for k, weight in enumerate(w)]
    return {"out": np.asarray(np.sum(products, axis=0, dtype=np.float32))}


def _cells_and_weights(case: Case) -> int:
    size, taps = case.sizes["size"], case.sizes["taps"]
    return sum(min(start + TPB + taps - 1, size) - start + taps for start in starts(size))


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "Cells and weights are each wanted by many threads, so each comes into shared memory once "
        "per block. The sums themselves then need nothing from global memory."
    ),
    alternative=(
        "Bring the overhang in a loop, or with a second guarded load: both are right. The weights "
        "are the same for all blocks, which is what constant memory is made for."
    ),
)

CONV1D = KernelPuzzle(
    name="04_shared_memory/conv1d",
    title="weights moved along the array",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "The convolution of deep learning, in which each thread writes at most one cell: out[i] "
        "is the sum of w[k] * a[i + k] over the `taps` weights, leaving out the products whose "
        "cell lies behind the end of a. A block needs its own cells, the first taps - 1 cells of "
        "the next block, and the weights. Load each of them once per block. a may hold NaN and "
        "infinities; the weights are finite."
    ),
    parameters={"conv1d": ("out", "a", "w", "size", "taps")},
    cases=(
        sized("visible example", visible=True, size=100, taps=4),
        sized("one cell", size=1, taps=3),
        sized("a single weight", size=70, taps=1),
        sized("exactly two blocks, large numbers", size=128, taps=7, doublings=50),
        sized("three cells behind a block", size=67, taps=9),
        sized("as many weights as there can be", size=500, taps=MAX_TAPS),
        special("NaN and infinities", size=131, taps=5),
    ),
    random_case=drawn(size=(65, 600), taps=(2, 17)),
    inputs=arrays("size", "taps", a="size", w="taps", ordinary=("w",)),
    launches=enough_blocks("conv1d", "out", "a", "w", "size", "taps", block=TPB),
    reference=gives(lambda a, w: _convolved(a, w)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: (
                4 * _cells_and_weights(case) + clamped_bytes(len(starts(case.sizes["size"])))
            ),
            "Cells, halo and weights are wanted by many threads of a block, and each of them "
            "should come from global memory once per block. The rest is what tiles are for.",
            "bytes loaded from global memory",
        ),
    ),
    diagnose=recognise(
        ("stopped-at-block", _stopped_at_block),
        ("wrong-side", _causal),
        ("flipped", lambda a, w: _convolved(a, w[::-1])),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread multiplies what other threads bring, and nothing makes it wait for them. "
            "Tile and weights both have to be complete before the first product."
        ),
        "barrier-divergence": (
            "Not every thread loads a weight or a cell of the halo, and not every one has a sum, "
            "but the barrier is for every thread of the block. Move it out of the conditions."
        ),
        "uninitialised-read": (
            "A thread used a place of a tile that no thread had filled. A sum of `taps` products "
            "needs as many weights, and as many cells from the thread's own on: how many places "
            "does the last thread reach beyond its own?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. The halo of the last block lies behind the array, "
            "and a block may have more threads than there are weights. A cell that does not exist "
            "must not be loaded; what can stand in its place so that the sum stays right?"
        ),
        "stopped-at-block": (
            "The last sums of every block are too short: their cells go on in the next block's "
            "piece. Only the end of the array may cut a sum short."
        ),
        "wrong-side": (
            "Your window looks back: the sum has a[i - k] where it should have cells from a[i] on. "
            "The halo lies behind the piece, not in front of it."
        ),
        "flipped": (
            "The weights run the wrong way: w[0] belongs to a[i], w[1] to a[i + 1]. The "
            "convolution of textbooks turns them round; the one of deep learning does not."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Three things to bring: the block's cells, the halo behind them, the weights. Then one "
            "barrier, then sums from shared memory alone."
        ),
        (
            "TPB threads have TPB + taps - 1 places to fill: a loop from t in steps of TPB does "
            "it. A place whose cell lies behind the array gets a 0, and then no sum needs a guard "
            "of its own."
        ),
        (
            "The first `taps` threads bring one weight each. After the barrier thread t needs the "
            "places t, t + 1 ... of the tile, as many as there are weights; start the sum as "
            "float32(0). Only threads with a cell write."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("no_halo", "hazard", "uninitialised-read"),
        Mistake("halo_without_a_guard", "hazard", "out-of-bounds"),
        Mistake("stopped_at_the_block", "wrong-result", "stopped-at-block"),
        Mistake("halo_on_the_wrong_side", "wrong-result", "wrong-side"),
        Mistake("flipped_weights", "wrong-result", "flipped"),
        Mistake("weights_from_global", "over-budget", "over-budget"),
        Mistake("halo_from_global", "over-budget", "over-budget"),
        Mistake("one_thread_brings_the_weights", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "MAX_TAPS": MAX_TAPS, "SPAN": TPB + MAX_TAPS},
    source="after '1D Convolution' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)
