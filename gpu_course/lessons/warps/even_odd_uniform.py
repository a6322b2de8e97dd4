"""Puzzle `even_odd_uniform`: two polynomials, and no warp that has to compute both."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.warps.pieces import TPB, launched_warps
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    drawn_case,
    eighths,
    enough_blocks,
    gives,
    sized,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Values

TERMS = 3


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a, p, q = (eighths(rng, shape) for shape in (size, TERMS, TERMS))
    return {"a": a, "p": p, "q": q, "size": size}


def _horner(a: np.ndarray, terms: np.ndarray) -> np.ndarray:
    result = np.full_like(a, terms[0])
    for term in terms[1:]:
        result = result * a + term
    return result


def _chosen(a: np.ndarray, p: np.ndarray, q: np.ndarray, with_p: np.ndarray) -> np.ndarray:
    return np.where(with_p, _horner(a, p), _horner(a, q))


def _even(size: int) -> np.ndarray:
    return np.arange(size) % 2 == 0


def _right(a: np.ndarray, p: np.ndarray, q: np.ndarray, size: int) -> np.ndarray:
    return _chosen(a, p, q, _even(size))


EVEN_ODD_UNIFORM = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=70),
        sized("one cell", size=1),
        sized("exactly two blocks", size=128),
        sized("a warp without a full pair", size=161),
    ),
    random_case=drawn_case(size=(70, 400)),
    inputs=_inputs,
    launches=enough_blocks("even_odd_uniform", "out", "a", "p", "q", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        Budget(
            "divergent_branches",
            lambda case, counters: counters.divergent_branches,
            "Where lanes of one warp take both ways, the warp walks through both, one after the "
            "other. Let the lanes of a warp have cells that want the same.",
            "branches that split a warp",
        ),
        Budget(
            "float32_operations",
            # Half as much again: x * x written out is no second polynomial.
            lambda case, counters: counters.float32_operations * 3 // 2,
            "That is more than one polynomial for each cell. To compute both and throw one result "
            "away spares the branch, and pays for it with twice the work.",
            "float32 operations",
        ),
        Budget(
            "global_load.requests",
            # A warp without a cell may load as well, clamped to the array.
            lambda case, counters: launched_warps(case) * (1 + TERMS),
            "A warp has to load its 32 numbers once, and p or q, not both. What it loads twice, or "
            "for none of its lanes, costs as much as what it needs.",
            "loads by warps",
        ),
    ),
    share=ONE_CELL_EACH,
)
