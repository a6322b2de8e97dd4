"""Puzzle `two_product`: what rounding took from a product."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gpu_course.lessons.under_the_hood.pieces import IN_FLOAT32, TPB
from gpu_course.puzzle.builders import blocks_to_cover, drawn_case, sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Budget, Case, KernelPuzzle, Launch, Share, Values

LEAST = -149
"""float32 numbers are multiples of 2 to the power of this."""
UNUSUAL = (0.0, -0.0, 1e-45, -1e-45, 1.1754944e-38, 1.0, -3.0, 1e-20, -7e-23, 2e19, -3.4e38,
           np.inf, -np.inf, np.nan)  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size, far = case.sizes["size"], case.sizes.get("exponents", 4)

    def numbers() -> np.ndarray:
        drawn = rng.uniform(1, 2, size) * rng.choice([-1.0, 1.0], size)
        return np.ldexp(drawn, rng.integers(-far, far + 1, size)).astype(np.float32)

    a, b = numbers(), numbers()
    if case.sizes.get("infinite"):
        pairs = [(x, y) for x in UNUSUAL for y in UNUSUAL]
        for place, pair in zip(rng.permutation(size), pairs, strict=False):
            a[place], b[place] = pair
    if case.sizes.get("exact"):
        a, b = np.round(a * 64) / np.float32(64), np.round(b * 64) / np.float32(64)
    return {"a": a, "b": b, "size": size}


def _error(a: float, b: float, p: float) -> float:
    """Returns a * b - p, worked out exactly and rounded to float32 once."""
    if not (np.isfinite(a) and np.isfinite(b)) or np.isnan(p):
        return float("nan")
    if np.isinf(p):
        return -p
    exact = Fraction(a) * Fraction(b) - Fraction(p)
    # The error of a product has no more digits than a factor, so a float32 that is not tiny holds
    # it; among the tiny ones it goes to the nearest multiple of the smallest, a tie to the even.
    steps = round(exact * 2**-LEAST)
    rounded = Fraction(steps) * Fraction(1, 2**-LEAST)
    if abs(exact) >= Fraction(1, 2**126):
        rounded = exact
    if not rounded:
        return -0.0 if exact < 0 else 0.0
    return float(rounded)


def _reference(inputs: Values, case: Case) -> Values:
    a, b = inputs["a"], inputs["b"]
    with np.errstate(all="ignore"):
        p = a * b
    triples = zip(a.tolist(), b.tolist(), p.tolist(), strict=True)
    return {"p": p, "e": np.array([_error(*each) for each in triples], np.float32)}


TWO_PRODUCT = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=40),
        sized("one product", size=1),
        sized("two whole blocks", size=128),
        sized("products without an error", size=33, exact=1),
        sized("very large and very small", size=300, exponents=70),
        sized("zeros, infinities, NaN and tiny numbers", size=210, infinite=1),
    ),
    random_case=drawn_case(size=(65, 400), exponents=(1, 30)),
    inputs=_inputs,
    launches=lambda case: (
        Launch(
            "two_product",
            blocks_to_cover(case.sizes["size"], TPB),
            TPB,
            ("p", "e", "a", "b", "size"),
        ),
    ),
    reference=_reference,
    signed_zeros=("p", "e"),
    budgets=(
        IN_FLOAT32,
        Budget(
            "float32_operations",
            lambda case, counters: 4 * case.sizes["size"],
            "One product and one fused product with a sum give both results. Splitting the factors "
            "takes 17 operations, and needs numbers that are not too large.",
            "float32 operations",
        ),
    ),
    share=Share("Each thread makes one product."),
)
