"""Puzzle `compact`: the numbers above a limit, close together and in order."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    gives,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
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


COMPACT = KernelPuzzle(
    **puzzle_fields(__file__),
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
    share=ONE_CELL_EACH,
)
