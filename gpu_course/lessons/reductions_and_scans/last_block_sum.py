"""Puzzle `last_block_sum`: the sum of an array, in one launch."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES, NO_FLOAT64
from gpu_course.puzzle.builders import (
    blocks_to_cover,
    drawn_case,
    eighths,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Values,
)


def _blocks(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TPB)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    return {
        "a": eighths(rng, size, case),
        "b": eighths(rng, size, case),
        "size": size,
        "arrived": np.zeros(1, np.int32),
    }


def _put_special_numbers(values: Values) -> None:
    """An infinity at the end of what is added up first, a NaN in what comes next."""
    values["a"][-1], values["b"][3] = np.inf, np.nan


def _scratch(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {"parts": np.zeros(_blocks(case), np.float32)}


def _launches(case: Case) -> tuple[Launch, ...]:
    return tuple(
        Launch("last_block_sum", _blocks(case), TPB, (out, "parts", "arrived", a, "size"))
        for out, a in (("first", "a"), ("second", "b"))
    )


def _sum(a: np.ndarray) -> np.float32:
    return np.float32(a.sum(dtype=np.float32))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows that nobody was last, when nothing is stored; and sums that are right, as the count of
    blocks is not, whatever it has become."""
    if case.sizes.get("infinite"):
        return None  # a NaN need not mean here that nothing was stored
    if np.isnan(got["first"][0]):
        return "nobody-is-last"
    right = all(np.array_equal(got[name], expected[name]) for name in ("first", "second"))
    return "counts-on" if right else None


LAST_BLOCK_SUM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=200),
        sized("one cell", size=1),
        sized("exactly two blocks of large numbers", size=128, doublings=90),
        sized("one cell more than two blocks", size=129),
        sized("more blocks than threads", size=66 * 64 + 7),
        sized("an infinity, and then a NaN", size=70, infinite=1),
    ),
    random_case=drawn_case(size=(130, 260)),
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    scratch=_scratch,
    launches=_launches,
    reference=lambda inputs, case: {
        "first": np.array([_sum(inputs["a"])]),
        "second": np.array([_sum(inputs["b"])]),
        "arrived": inputs["arrived"].copy(),
    },
    budgets=(
        Budget(
            "atomic_updates",
            lambda case, counters: 2 * _blocks(case) + 2,
            "All atomics on the counter are done one after the other, and every block has to be "
            "counted once. Which thread of a block knows that the part is there?",
            "atomics",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: 2 * 4 * (case.sizes["size"] + _blocks(case)),
            "Each number and each part is needed once.",
            "bytes loaded from global memory",
        ),
        Budget(
            "shared_updates",
            lambda case, counters: 2 * (TPB // WARP) * (_blocks(case) + 1),
            "Atomics on one cell are carried out one after the other, on shared memory too. Let "
            "the lanes of a warp add to each other first, many at the same time.",
            "atomics on shared memory, counted thread by thread",
        ),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    diagnose=_diagnose,
    share=Share("Each thread writes at most one cell of out."),
)
