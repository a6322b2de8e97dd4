"""What lesson 19 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "The mean of (g·v) v": Sealed(
        "Each estimate is on the gradient's side: along the gradient, (g·v) v measures (g·v)², and "
        "a square is never below zero. A step against it never goes uphill, if it is small enough. "
        "Directions of length 1 would all end on the dashed circle."
    ),
    "The forward gradient's peak, 64 layers over 4": Sealed(
        "Equal to the byte, at any depth. What a layer was given can go as soon as its output and "
        "the output's tangent are there, because no backward pass will come back for it."
    ),
    "Operations of a forward gradient, over a plain pass": Sealed(
        "As many as backprop: a product W x changes because W does and because x does, which makes "
        "two more products. So one direction costs as much work as the whole gradient. What is "
        "saved is memory. (On a clock the paper saw training up to twice as fast in some cases.)"
    ),
    "Variance for 10 parameters, as a multiple of |g|^2": Sealed(
        "It grows with the number of parameters. **Find the rule** before you go on: which number "
        "belongs to 1,000?"
    ),
    "The variance with 42 of 42 directions at right angles": Sealed(
        "Forty-two directions at right angles look into every corner: nothing is left to chance.",
        answer=lambda off: (
            "zero" if off < 1e-4 else "half of that" if off < 0.5 else "as with independent ones"
        ),
    ),
}
