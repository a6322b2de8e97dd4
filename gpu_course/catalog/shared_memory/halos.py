"""Puzzles of lesson 04 along one axis whose blocks need cells of others: stencil_halo, conv1d."""

from __future__ import annotations

import numpy as np

from gpu_course.catalog.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    eighths,
    float32_out,
    recognise,
    sized,
    vectors,
)
from gpu_course.catalog.shared_memory import debriefs
from gpu_course.catalog.shared_memory.pieces import OUTSIDE_THE_TILE, TPB
from gpu_course.catalog.specification import Budget, Case, KernelPuzzle, Launch, Mistake, Values

MAX_TAPS = 16

STENCIL_HALO = KernelPuzzle(
    name="04_shared_memory/stencil_halo",
    title="each cell and its two neighbours",
    difficulty="medium",
    minutes=10,
    debrief=debriefs.STENCIL_HALO,
    statement=(
        "out[i] = a[i - 1] - 2 * a[i] + a[i + 1], and a neighbour that does not exist counts as "
        "0. Each thread writes at most one cell. The first and the last cell of a block have a "
        "neighbour in another block, so give the tile one more place at each side, the halo, and "
        "load every cell that a block needs once."
    ),
    functions=("stencil_halo",),
    parameters={"stencil_halo": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=100),
        sized("one cell", size=1),
        sized("exactly two blocks", size=128),
        sized("one cell more than two blocks", size=129),
        sized("1,003 large numbers", size=1003, doublings=100),
    ),
    random_case=lambda rng: sized("a size drawn at random", size=int(rng.integers(65, 700))),
    inputs=vectors("a", scalars=["size"]),
    outputs=float32_out("size"),
    launches=lambda case: (
        Launch("stencil_halo", blocks_to_cover(case.sizes["size"], TPB), TPB, ("out", "a", "size")),
    ),
    reference=lambda inputs, case: {"out": _stencil(inputs["a"])},
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * _cells_with_halo(case),
            "A block needs its own cells and one more at each side that has a neighbour; whatever "
            "is loaded beyond that could come from the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=recognise(
        ("halo-of-zeros", lambda inputs, case: _halo_of_zeros(inputs)),
        ("wrong-side", lambda inputs, case: _wrong_side(inputs)),
        ("forgot-offset", lambda inputs, case: _forgot_offset(inputs)),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread uses cells that its neighbours bring, and nothing makes it wait for them. "
            "What has to stand between filling the tile and using it?"
        ),
        "barrier-divergence": (
            "Only some threads load the halo, and the barrier is for all of them. Move it out of "
            "every condition."
        ),
        "uninitialised-read": (
            "A place of the tile was used, and no thread had filled it. Every place from tile[0] "
            "to the right neighbour of the last cell needs a number: a cell of another block, or "
            "0 where the array has ended."
        ),
        "out-of-bounds": (
            "The halo of the first block begins before the array, and that of the last one ends "
            "behind it. What belongs in those places?"
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


def _starts(size: int) -> range:
    return range(0, size, TPB)


def _cells_with_halo(case: Case) -> int:
    size = case.sizes["size"]
    return sum(min(start + TPB + 1, size) - max(start - 1, 0) for start in _starts(size))


def _stencil(a: np.ndarray) -> np.ndarray:
    left, right = _neighbours(a)
    return left - 2 * a + right


def _neighbours(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    nothing = np.zeros(1, np.float32)
    return np.concatenate([nothing, a[:-1]]), np.concatenate([a[1:], nothing])


def _halo_of_zeros(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    return {"out": np.concatenate([_stencil(a[start : start + TPB]) for start in _starts(len(a))])}


def _wrong_side(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    left, right = _neighbours(a)
    for start in _starts(len(a)):
        after = start + TPB
        left[start] = a[after] if after < len(a) else 0
        if after <= len(a):
            right[after - 1] = a[start - 1] if start else 0
    return {"out": left - 2 * a + right}


def _forgot_offset(inputs: Values) -> dict[str, np.ndarray]:
    beyond = np.concatenate([inputs["a"], np.zeros(2, np.float32)])
    return {"out": beyond[:-2] - 2 * beyond[1:-1] + beyond[2:]}


CONV1D = KernelPuzzle(
    name="04_shared_memory/conv1d",
    title="weights moved along the array",
    difficulty="medium",
    minutes=12,
    debrief=debriefs.CONV1D,
    statement=(
        "The convolution of deep learning, in which each thread writes at most one cell: out[i] "
        "is the sum of w[k] * a[i + k] over the `taps` weights, leaving out the products whose "
        "cell lies behind the end of a. A block needs its own cells, the first taps - 1 cells of "
        "the next block, and the weights. Load each of them once per block."
    ),
    functions=("conv1d",),
    parameters={"conv1d": ("out", "a", "w", "size", "taps")},
    cases=(
        sized("visible example", visible=True, size=100, taps=4),
        sized("one cell", size=1, taps=3),
        sized("a single weight", size=70, taps=1),
        sized("exactly two blocks, large numbers", size=128, taps=7, doublings=50),
        sized("three cells behind a block", size=67, taps=9),
        sized("as many weights as there can be", size=500, taps=MAX_TAPS),
    ),
    random_case=lambda rng: sized(
        "sizes drawn at random", size=int(rng.integers(65, 600)), taps=int(rng.integers(2, 17))
    ),
    inputs=lambda rng, case: {
        "a": eighths(rng, case.sizes["size"], case),
        "w": eighths(rng, case.sizes["taps"], case),
        "size": case.sizes["size"],
        "taps": case.sizes["taps"],
    },
    outputs=float32_out("size"),
    launches=lambda case: (
        Launch(
            "conv1d",
            blocks_to_cover(case.sizes["size"], TPB),
            TPB,
            ("out", "a", "w", "size", "taps"),
        ),
    ),
    reference=lambda inputs, case: {"out": _convolved(inputs["a"], inputs["w"])},
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * _cells_and_weights(case),
            "Cells, halo and weights are wanted by many threads of a block, and each of them "
            "should come from global memory once per block. The rest is what tiles are for.",
            "bytes loaded from global memory",
        ),
    ),
    diagnose=recognise(
        ("stopped-at-block", lambda inputs, case: _stopped_at_block(inputs)),
        ("wrong-side", lambda inputs, case: _causal(inputs)),
        ("flipped", lambda inputs, case: {"out": _convolved(inputs["a"], inputs["w"][::-1])}),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread multiplies what other threads bring, and nothing makes it wait for them. "
            "Tile and weights both have to be complete before the first product."
        ),
        "barrier-divergence": (
            "Not every thread loads a weight or a cell of the halo, and the barrier is for every "
            "thread of the block. Move it out of the conditions."
        ),
        "uninitialised-read": (
            "A thread near the end of the block used places of the tile that no thread had "
            "filled. How many places does the last thread reach beyond its own?"
        ),
        "out-of-bounds": (
            "The halo of the last block lies behind the array. A cell that does not exist must not "
            "be loaded; what can stand in its place so that the sum stays right?"
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


def _convolved(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    beyond = np.concatenate([a, np.zeros(len(w) - 1, np.float32)])
    products = [weight * beyond[k : k + len(a)] for k, weight in enumerate(w)]
    return np.asarray(np.sum(products, axis=0, dtype=np.float32))


def _stopped_at_block(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    pieces = [_convolved(a[start : start + TPB], inputs["w"]) for start in _starts(len(a))]
    return {"out": np.concatenate(pieces)}


def _causal(inputs: Values) -> dict[str, np.ndarray]:
    a, w = inputs["a"], inputs["w"]
    before = np.concatenate([np.zeros(len(w) - 1, np.float32), a])
    products = [weight * before[k : k + len(a)] for k, weight in enumerate(w)]
    return {"out": np.asarray(np.sum(products, axis=0, dtype=np.float32))}


def _cells_and_weights(case: Case) -> int:
    size, taps = case.sizes["size"], case.sizes["taps"]
    return sum(min(start + TPB + taps - 1, size) - start + taps for start in _starts(size))
