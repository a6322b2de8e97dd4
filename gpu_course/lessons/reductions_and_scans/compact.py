"""Puzzle `compact`: the numbers above a limit, close together and in order."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
    in_tiles,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Values,
)

WARPS = TPB // WARP


def _pieces(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TPB)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """`kept` numbers are larger than the limit, which is the largest of the others, if any."""
    values = arrays("size", a="size")(rng, case)
    in_order, others = np.sort(values["a"]), case.sizes["size"] - case.sizes["kept"]
    low = in_order[others - 1] if others else in_order[0] - np.float32(1 / 16)
    return {**values, "low": np.float32(low), "pieces": _pieces(case)}


def _put_special_numbers(values: Values) -> None:
    """An infinite number is kept; NaN, and minus infinity, are not."""
    a, low = values["a"], values["low"]
    a[np.flatnonzero(a > low)[4]] = np.inf
    below = np.flatnonzero(a < low)
    a[below[[2, 20, -1]]] = np.nan
    a[below[9]] = -np.inf


def _random(rng: np.random.Generator) -> Case:
    size = int(rng.integers(65, 700))
    return sized("sizes drawn at random", size=size, kept=int(rng.integers(1, size)))


def _launches(case: Case) -> tuple[Launch, ...]:
    return (
        Launch("count_kept", _pieces(case), TPB, ("counts", "a", "low", "size")),
        Launch("scan_counts", 1, WARP, ("starts", "counts", "pieces")),
        Launch("place", _pieces(case), TPB, ("out", "starts", "a", "low", "size")),
    )


def _from_the_end(a: np.ndarray, low: np.float32) -> np.ndarray:
    return np.concatenate([piece[piece > low][::-1] for piece in in_tiles(a, TPB)])


DEBRIEF = Debrief(
    shows=("global_load.bytes", "global_store.bytes", "barriers"),
    why=(
        "The place of a number is how many kept numbers stand before it: in the pieces before, in "
        "the warps before, in the lanes before. All of it is counted, so the order stays, and two "
        "runs give the same array."
    ),
    alternative=(
        "A scan of zeros and ones gives the same places. A ballot does it for a warp in one step, "
        "as the ones of a warp fit into the bits of one word. The three launches can become one "
        "by looking back, as in scan_lookback."
    ),
)

COMPACT = KernelPuzzle(
    name="05_reductions_and_scans/compact",
    title="keep some, in order",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "out holds the numbers of a that are larger than low, close together and in the order they "
        "have in a. Three launches: count_kept counts what each piece of TPB numbers keeps, "
        "scan_counts adds up the counts before each piece and is given, place puts the numbers "
        "down. Each thread writes at most one cell, and looks at the numbers of no other thread. "
        "NaN is not larger than any number, so it is not kept; infinities are numbers like any "
        "other."
    ),
    parameters={
        "count_kept": ("counts", "a", "low", "size"),
        "scan_counts": ("starts", "counts", "pieces"),
        "place": ("out", "starts", "a", "low", "size"),
    },
    cases=(
        sized("visible example", visible=True, size=100, kept=30),
        sized("one cell", size=1, kept=1),
        sized("exactly two pieces", size=128, kept=64),
        sized("one cell more than two pieces, all kept", size=129, kept=129),
        sized("most pieces keep none", size=500, kept=3),
        sized("more pieces than a warp has lanes", size=64 * 66 + 9, kept=900),
        sized("infinities and NaN", size=100, kept=30, infinite=1),
    ),
    random_case=_random,
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    scratch=lambda inputs, case: {
        name: np.zeros(_pieces(case), np.int32) for name in ("counts", "starts")
    },
    large=lambda least_bytes: sized("past L2", size=least_bytes // 4, kept=least_bytes // 8),
    launches=_launches,
    reference=gives(lambda a, low: a[a > low]),
    budgets=(
        Budget(
            "global_load.bytes",
            # A number is asked for again where it is moved. Each warp of a piece may ask for the
            # piece's start, whether it keeps anything or not.
            lambda case, counters: (
                4 * (2 * case.sizes["size"] + case.sizes["kept"] + (1 + WARPS) * _pieces(case))
            ),
            "Each thread goes over the numbers of its neighbours to count those that are kept. Let "
            "each say once whether it keeps its own: a ballot tells a whole warp.",
            "bytes loaded from global memory",
        ),
        Budget(
            "atomic_updates + shared_updates",
            lambda case, counters: 2 * WARPS * _pieces(case),
            "Atomics on one cell are carried out one after the other. A ballot counts a warp in "
            "one step.",
            "atomics, counted thread by thread",
        ),
    ),
    diagnose=recognise(("from-the-end", _from_the_end)),
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "Threads of two warps met at a place of shared memory, with nothing to order them. "
            "What makes a warp wait until the count of another one is there?"
        ),
        "race on out": (
            "Two threads put their numbers into the same cell, so both found the same place. Which "
            "numbers stand before a thread's own: in its warp, in the other warps of the block, in "
            "the other blocks?"
        ),
        "out-of-bounds": (
            "An index lies outside its array: a ends at size, and out has as many cells as numbers "
            "are kept. How many kept numbers stand before the first one? And does a number keep "
            "its old place?"
        ),
        "uninitialised-read": (
            "A count is read that no thread has written. Which lane of a warp writes it, and is "
            "that lane always there?"
        ),
        "order-dependent": (
            "An atomic hands out places in the order in which threads happen to come, and that is "
            "another one each time. The place of a number has to follow from the numbers before it."
        ),
        "from-the-end": (
            "The right numbers are in each piece, and in reverse. How many kept numbers stand "
            "before the first one of a piece?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "The place of a number is how many kept numbers stand before it. Write this count as a "
            "sum of three: other pieces, other warps of the piece, other lanes of the warp."
        ),
        (
            "A ballot gives every lane a word with a bit for each lane that keeps its number. "
            "Counting the bits of the word counts the whole warp; of the bits below the own lane, "
            "those before it."
        ),
        (
            "All lanes come to the ballot, also those without a number: they keep nothing. One "
            "lane of each warp puts the warp's count into shared memory; after a barrier the "
            "threads that keep a number add up the three counts and store it."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race", stands_for="place"),
        Mistake("warp_before_forgotten", "hazard", "race on out", stands_for="place"),
        Mistake("ballot_behind_the_guard", "hazard", "inactive-lane", stands_for="place"),
        Mistake("with_gaps", "hazard", "out-of-bounds", stands_for="place"),
        Mistake("own_number_counted", "hazard", "out-of-bounds", stands_for="place"),
        Mistake("places_by_an_atomic", "order-dependent", "order-dependent", stands_for="place"),
        Mistake("from_the_end", "wrong-result", "from-the-end", stands_for="place"),
        Mistake("counts_in_every_thread", "over-budget", "over-budget", stands_for="place"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared", stands_for="place"),
    ),
    equivalent_mutants={
        "count_kept:constant:kept = cuda.syncthreads_count(2 if keeps else 0)": (
            "counted are the threads that bring anything but 0"
        ),
        "count_kept:constant:if cuda.threadIdx.x == 1:": "any one thread of the block may write it",
        "place:constant:if cuda.laneid == 1:": "all lanes know the ballot; any one may write it",
        "scan_counts:loop-ends-late:for first in range(0, pieces + WARP, WARP):": (
            "a round without a piece stores nothing"
        ),
        "scan_counts:constant:mine = counts[piece] if piece < pieces else 1": (
            "beyond the last piece nobody wants a sum"
        ),
        "scan_counts:constant:mine = counts[piece] if piece < pieces else -1": (
            "beyond the last piece nobody wants a sum"
        ),
        "scan_counts:comparison:while step <= WARP:": "no lane lies a whole warp to the left",
    },
    constants={"TPB": TPB, "WARPS": WARPS, **WARP_CONSTANTS},
    source="Guy E. Blelloch, Prefix Sums and Their Applications, CMU-CS-90-190, 1990",
)
