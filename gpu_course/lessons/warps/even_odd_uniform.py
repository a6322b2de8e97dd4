"""Puzzle `even_odd_uniform`: two polynomials, and no warp that has to compute both."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.warps.pieces import TPB, WARP, launched_warps
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    drawn,
    eighths,
    enough_blocks,
    gives,
    recognise,
    sized,
    where_written,
)
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Mistake, Values

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


def _by_warp(a: np.ndarray, p: np.ndarray, q: np.ndarray, size: int) -> np.ndarray:
    return _chosen(a, p, q, np.arange(size) // WARP % 2 == 0)


def _first_odd_ones_unwritten(a: np.ndarray, p: np.ndarray, q: np.ndarray, size: int) -> np.ndarray:
    return where_written(_right(a, p, q, size), _even(size) | (np.arange(size) >= TPB))


DEBRIEF = Debrief(
    shows=("branches", "divergent_branches", "global_load.bytes"),
    why=(
        "A branch costs extra only where lanes of one warp part. When you deal the cells out so "
        "that all lanes of a warp want the same polynomial, each warp walks through one arm."
    ),
    alternative=(
        "The first half of all warps may take the even cells and the second half the odd ones. "
        "Where the number of blocks is even, whole blocks agree then, and the condition can ask "
        "for the number of the block."
    ),
)

EVEN_ODD_UNIFORM = KernelPuzzle(
    name="02_warps/even_odd_uniform",
    title="two polynomials, one for each warp",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Even cells get the polynomial with the coefficients p, odd cells the one with q: out[i] "
        "= (p[0] * x + p[1]) * x + p[2] for even i, where x is a[i], and the same with q for odd "
        "i. The launch has blocks of TPB threads, enough for all cells, and each thread writes at "
        "most one cell; which cell, you choose. No branch but the guard's may split a warp, and "
        "no warp may load or compute what it does not need. a, p and q "
        "hold no NaN and no infinities."
    ),
    parameters={"even_odd_uniform": ("out", "a", "p", "q", "size")},
    cases=(
        sized("visible example", visible=True, size=70),
        sized("one cell", size=1),
        sized("exactly two blocks", size=128),
        sized("a warp without a full pair", size=161),
    ),
    random_case=drawn(size=(70, 400)),
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
    diagnose=recognise(
        ("exchanged", lambda a, p, q, size: _right(a, q, p, size)),
        ("by-warp", _by_warp),
        ("odd-unwritten", _first_odd_ones_unwritten),
        ("backwards", lambda a, p, q, size: _right(a, p[::-1], q[::-1], size)),
    ),
    diagnoses={
        "exchanged": (
            "The even cells have q and the odd ones p. Which of your two kinds of warp has the "
            "even cells?"
        ),
        "by-warp": (
            "Whole warps of neighbouring cells got one polynomial. The branch is uniform, but "
            "which polynomial a cell gets depends on the cell: it is the cells that have to be "
            "dealt out in another way."
        ),
        "odd-unwritten": (
            "The first odd cells were never written. The second warp of a block counts its lanes "
            "from 0 as well: what does a thread's number have too much there?"
        ),
        "backwards": (
            "The coefficients come in the wrong order: the first one belongs to the highest power."
        ),
        "out-of-bounds": (
            "A thread whose cell lies past the end touched memory. In the last block both warps "
            "may have such threads."
        ),
        "race": (
            "Two threads have the same cell. Three numbers make up the cell of a thread: its "
            "block, its warp in the block, and its lane. Are all three in your index, and can two "
            "threads come to one sum?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "A warp is 32 threads with neighbouring numbers. Nobody says that their cells have to "
            "be neighbours."
        ),
        (
            "A block has two warps and 64 cells, 32 of them even. Which warp should have which? "
            "Then the condition asks for the warp and not for the cell."
        ),
        (
            "With the number of the warp in the block (the thread's number divided by 32) and the "
            "lane (the remainder): lanes go in steps of two, the warp says where they begin, and "
            "the block where its 64 cells begin."
        ),
    ),
    mistakes=(
        Mistake("asked_the_cell", "over-budget", "over-budget"),
        Mistake("computed_both", "over-budget", "over-budget"),
        Mistake("chose_each_coefficient", "over-budget", "over-budget"),
        Mistake("exchanged", "wrong-result", "exchanged"),
        Mistake("asked_the_warp_alone", "wrong-result", "by-warp"),
        Mistake("thread_for_lane", "wrong-result", "odd-unwritten"),
        Mistake("backwards", "wrong-result", "backwards"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("forgot_the_block", "hazard", "race"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "TERMS": TERMS},
)
