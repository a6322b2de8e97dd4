"""Puzzle `variance_law`: how far from the gradient an average of estimates is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

KINDS = ("normal", "signs", "right angles")


def _case(
    name: str, kind: int, size: int, k: int, visible: bool = False, *, zeros: int = 0
) -> Case:
    sizes = {"kind": kind, "size": size, "k": k}
    return Case(name, sizes | ({"zeros": zeros} if zeros else {}), visible)


def _random_case(rng: np.random.Generator) -> Case:
    size = int(rng.integers(2, 8))
    kind = int(rng.integers(len(KINDS)))
    return _case("drawn at random", kind, size, int(rng.integers(1, size + 1)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    gradient = [float(number) for number in rng.integers(-40, 40, size=case.sizes["size"]) / 8]
    gradient[0] = 1.5
    for place in range(case.sizes.get("zeros", 0)):
        gradient[-1 - place] = 0.0
    return {"gradient": gradient, "k": case.sizes["k"], "directions": KINDS[case.sizes["kind"]]}


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": float(np.trace(covariance(**inputs)))}


def covariance(gradient: list[float], k: int, directions: str) -> np.ndarray:
    """Returns the exact covariance of the average of k estimates, from the directions' moments."""
    g, d = np.array(gradient), len(gradient)
    if directions == "normal":
        # The mean of v_i v_j v_k v_l is 1 for each way to pair the four up.
        one = np.eye(d)
        fourth = (
            np.einsum("ij,kl->ijkl", one, one)
            + np.einsum("ik,jl->ijkl", one, one)
            + np.einsum("il,jk->ijkl", one, one)
        )
        return (np.einsum("i,j,ijkl->kl", g, g, fourth) - np.outer(g, g)) / k
    if directions == "signs":
        every = np.array(list(product((-1.0, 1.0), repeat=d)))
        estimates = (every @ g)[:, None] * every
        return np.cov(estimates.T, bias=True).reshape(d, d) / k
    # d / k times a projection P on a random space of k dimensions. By symmetry the mean of
    # P g g^T P is a |g|^2 + b g g^T: its trace is k / d, and g^T P g has a beta distribution.
    square = k * (k + 2) / (d * (d + 2))
    a = (k / d - square) / (d - 1) if d > 1 else 0.0
    b = square - a
    mean = a * (g @ g) * np.eye(d) + b * np.outer(g, g)
    return (d / k) ** 2 * mean - np.outer(g, g)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result: Any = got.get("result")
    g = np.array(inputs["gradient"])
    d, k, kind, square = len(g), inputs["k"], inputs["directions"], g @ g
    right = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": d / k - 1}[kind]
    most = int(np.count_nonzero(g))
    ways = {
        "second-moment": {"normal": (d + 2) / k, "signs": d / k, "right angles": d / k},
        "no-average": {"normal": d + 1, "signs": d - 1},
        "all-normal": {"signs": (d + 1) / k},
        "fourth-moment": {"normal": (d - 1) / k},
        "independent": {"right angles": (d - 1) / k},
        "root-of-k": {"normal": right * k**0.5, "signs": right * k**0.5},
        "zeros-dropped": {
            "normal": (most + 1) / k,
            "signs": (most - 1) / k,
            "right angles": most / k - 1,
        },
        "whole-division": {"right angles": d // k - 1},
        "standard-deviation": {kind: right**0.5 if right > 0 else 0.0},
    }
    for key, factors in ways.items():
        factor = factors.get(kind, right)
        # The root of a variance is a length: the gradient's, not its square.
        size = square**0.5 if key == "standard-deviation" else square
        if np.isclose(result, factor * size) and not np.isclose(result, right * square):
            return key
    if np.isclose(result, right * np.sqrt(square)):
        return "length"
    return "per-number" if np.isclose(result * d, right * square) else None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "Only the part of the gradient along v is measured; whatever else v contains is noise, and "
        "it grows with the number of parameters. Averaging k independent estimates divides it by "
        "k; at right angles they share nothing, and with k = d nothing is missing."
    ),
    alternative=(
        "You can derive it from the fourth moment of one number, or count the directions that "
        "were not looked at. Averaging many draws gives a number near it, not the law."
    ),
)

VARIANCE_LAW = PythonPuzzle(
    name="19_forward_gradients/variance_law",
    title="what the noise is",
    difficulty="hard",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Say how far an average of k forward gradients is from the gradient, in the mean square, "
        "for three kinds of directions."
    ),
    parameters={"variance_law": ("gradient", "k", "directions")},
    torch=False,
    cases=(
        _case("visible example", 0, 4, 1, visible=True),
        _case("normal, an average", 0, 6, 3),
        _case("signs", 1, 5, 1),
        _case("signs, an average", 1, 7, 4),
        _case("right angles", 2, 6, 2),
        _case("right angles, three of seven", 2, 7, 3),
        _case("right angles, as many as dimensions", 2, 5, 5),
        _case("one dimension", 0, 1, 2),
        _case("zeros in the gradient", 1, 6, 2, zeros=2),
        _case("a gradient of zeros", 0, 4, 1, zeros=4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    tolerance=(1e-9, 1e-9),
    diagnoses={
        "second-moment": (
            "That is the mean square of the estimate, not of its distance from the gradient. What "
            "is the difference between the two?"
        ),
        "no-average": (
            "That is the variance of one estimate. What does an average of k independent ones do "
            "to it?"
        ),
        "zeros-dropped": (
            "You count the numbers of the gradient that are not 0. The noise goes into every "
            "direction there is, those with a slope of 0 among them."
        ),
        "all-normal": (
            "That is the law of normal directions. Signs have a fixed length: every square is 1. "
            "Which term goes away?"
        ),
        "fourth-moment": (
            "For normal numbers that is too little. The square of a normal number is not always 1: "
            "its mean is 1, and the mean of its own square, v^4, is 3."
        ),
        "standard-deviation": (
            "That is the root of the variance. What is asked for is the mean of the squared "
            "distance itself."
        ),
        "independent": (
            "That would be the law if the k directions were independent. At right angles they are "
            "not: what one has seen, the next will not see again. With k = d, what is left?"
        ),
        "whole-division": (
            "You divided d by k with //, which leaves the rest out. A variance need not be whole."
        ),
        "root-of-k": "A standard deviation goes down with the root of k. The variance goes how?",
        "length": "The variance goes with the square of the gradient's length.",
        "per-number": "That is the mean over the d numbers. The distance is their sum.",
    },
    hints=(
        (
            "The mean square of the estimate less the square of its mean, the gradient: so begin "
            "with the mean of (g.v)^2 times |v|^2."
        ),
        (
            "For signs, |v|^2 is always d, and the mean of (g.v)^2 is |g|^2. For normal numbers "
            "look at d = 1: the mean of v^4 is 3, not 1."
        ),
        (
            "At right angles the average is d/k times the part of g that lies in a space of k "
            "dimensions. By symmetry that part has k/d of g's squared length, in the mean."
        ),
    ),
    mistakes=(
        Mistake("zeros_are_no_dimensions", "wrong-result", "zeros-dropped"),
        Mistake("mean_square_of_the_estimate", "wrong-result", "second-moment"),
        Mistake("one_estimate", "wrong-result", "no-average"),
        Mistake("all_as_normal", "wrong-result", "all-normal"),
        Mistake("all_as_signs", "wrong-result", "fourth-moment"),
        Mistake("root_of_the_variance", "wrong-result", "standard-deviation"),
        Mistake("right_angles_as_signs", "wrong-result", "independent"),
        Mistake("root_of_the_number", "wrong-result", "root-of-k"),
        Mistake("length_for_its_square", "wrong-result", "length"),
        Mistake("mean_over_the_numbers", "wrong-result", "per-number"),
        Mistake("divides_without_the_rest", "wrong-result", "whole-division"),
    ),
    source="Baydin et al. 2022, arXiv 2202.08587, section 3; the law is worked out in the lesson",
)
