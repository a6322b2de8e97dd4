"""Puzzle `variance_law`: how far from the gradient an average of estimates is."""

from __future__ import annotations

from itertools import product

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

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


VARIANCE_LAW = PythonPuzzle(
    **puzzle_fields(__file__),
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
    tolerance=(1e-9, 1e-9),
)
