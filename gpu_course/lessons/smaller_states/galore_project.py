"""Puzzle `galore_project`: a gradient in its main directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.digits import IN_FLOAT32, to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Held,
    Mistake,
    PythonPuzzle,
    Values,
)


def _case(name: str, rows: int, columns: int, rank: int, visible: bool = False) -> Case:
    return Case(name, {"rows": rows, "columns": columns, "rank": rank}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    rows, columns = (int(side) for side in rng.integers(8, 30, size=2))
    rank = int(rng.integers(2, min(rows, columns) - 2))
    return _case("a shape drawn at random", rows, columns, rank)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """A gradient whose directions weigh less and less, so that it is plain which are the main."""
    rows, columns = case.sizes["rows"], case.sizes["columns"]
    short = min(rows, columns)
    left = np.linalg.qr(rng.normal(size=(rows, short)))[0]
    right = np.linalg.qr(rng.normal(size=(columns, short)))[0]
    weights = 2.0 * 0.7 ** np.arange(short)
    more = {"layers": case.sizes["layers"]} if "layers" in case.sizes else {}
    return {"gradient": left * weights @ right.T, "rank": case.sizes["rank"], **more}


def _reference(inputs: Values, case: Case) -> Values:
    rows, columns = inputs["gradient"].shape
    rank = inputs["rank"]
    left, weights, right = np.linalg.svd(inputs["gradient"], full_matrices=False)
    by_left = rows <= columns
    return {
        "basis_shape": [rows if by_left else columns, rank],
        "small_shape": [rank, columns] if by_left else [rows, rank],
        "products": np.eye(rank),
        "restored": left[:, :rank] * weights[:rank] @ right[:rank],
    }


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    rows, columns = inputs["gradient"].shape
    held = 8 * inputs["rank"] * (rows + columns)
    if got["bytes"] <= held:
        return None
    fact = f"{got['bytes']:,} bytes stay behind basis and small gradient; they show {held:,}"
    return Finding("whole-basis", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    right, mine = tuple(expected["basis_shape"]), tuple(got["basis_shape"])
    rows, columns = inputs["gradient"].shape
    if mine != right:
        if mine == tuple(expected["small_shape"]) and tuple(got["small_shape"]) == right:
            return "other-order"
        if mine == right[::-1]:
            return "rows-for-columns"
        return "wrong-side" if mine == (rows + columns - right[0], right[1]) else None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if not np.allclose(got["products"], expected["products"], *_TOLERANCE):
        return "not-unit"
    if list(got["small_shape"]) != expected["small_shape"]:
        return "small-shape"
    restored: Any = got["restored"]
    left, weights, transposed = np.linalg.svd(inputs["gradient"], full_matrices=False)
    last = slice(len(weights) - inputs["rank"], None)
    if np.allclose(restored, left[:, last] * weights[last] @ transposed[last], *_TOLERANCE):
        return "last-directions"
    # Any orthonormal basis gives a projection; this one lost more of the gradient than it had to.
    lost, least = (np.linalg.norm(inputs["gradient"] - r) for r in (restored, expected["restored"]))
    return "not-the-main" if lost > least else None


_TOLERANCE = (1e-7, 1e-9)

MANY = Case("many gradients", {"rows": 128, "columns": 128, "rank": 1, "layers": 240})

DEBRIEF = Debrief(
    shows=("basis_shape", "small_shape", "bytes"),
    why=(
        "The first singular vectors span the directions in which most of the gradient lies, and "
        "no other basis of that rank comes closer. Working on the shorter side makes the basis "
        "the smaller one."
    ),
    alternative=(
        "The eigenvectors of the gradient times its transpose are the same directions, for a "
        "smaller problem but with half of the digits. Randomised methods find the first few "
        "without the rest."
    ),
)

GALORE_PROJECT = PythonPuzzle(
    name="20_smaller_states/galore_project",
    title="a gradient in few directions",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Find the main directions of a gradient on its shorter side, and the gradient in these "
        "directions. Hold no memory beyond the two."
    ),
    parameters={"galore_project": ("gradient", "rank")},
    harness="gpu_course.lessons.smaller_states.harness.galore_project",
    torch=True,
    cases=(
        _case("visible example", 12, 20, 3, visible=True),
        _case("more rows than columns", 21, 9, 4),
        _case("square", 14, 14, 5),
        _case("one direction", 10, 16, 1),
        _case("all directions", 7, 18, 7),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    held=(Held(MANY, 26 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
    diagnoses={
        "wrong-side": (
            "Your basis is for the longer side. The shorter side has the smaller basis, and the "
            "longer one stays in the small gradient. Which side is shorter here?"
        ),
        "rows-for-columns": (
            "Your basis lies on its side: its directions are rows. svd returns the right singular "
            "vectors as rows; a basis has its directions as columns here."
        ),
        "other-order": "Your two results are in the other order: the basis is the first one.",
        "small-shape": (
            "Your basis fits, and your small gradient has another shape. It is the gradient with "
            "its shorter side cut down to `rank`, and its longer side whole."
        ),
        "no-pair": (
            "Two things are asked for: `return basis, small`, both of them tensors with two sides."
        ),
        "not-unit": (
            "Your directions have not length 1, or are not at right angles. What was projected "
            "then comes back with other lengths. Which of svd's three results are directions alone?"
        ),
        "last-directions": (
            "These are the directions in which the gradient is smallest. In what order does svd "
            "give them?"
        ),
        "seven-digits": IN_FLOAT32,
        "not-the-main": (
            "Your directions are at right angles and of length 1, but others keep more of this "
            "gradient. The best ones come from the gradient itself."
        ),
        "whole-basis": (
            "The values are right, and more memory stays behind them than they show. A slice is a "
            "view: it keeps all singular vectors alive, and contiguous() copies only where it has "
            "to. What did lesson 16 say about storages?"
        ),
    },
    hints=(
        (
            "torch.linalg.svd with full_matrices=False gives left vectors, weights and right "
            "vectors, the heaviest first."
        ),
        (
            "Compare the two sides of the gradient. With no more rows than columns, take left "
            "vectors and multiply from the left; else take right vectors and multiply from the "
            "right."
        ),
        (
            "The first columns of the left vectors, or the first rows of the right ones turned "
            "over, are the basis; give it memory of its own. The basis turned over times the "
            "gradient, or the gradient times the basis, is the small gradient."
        ),
    ),
    mistakes=(
        Mistake("always_from_the_left", "wrong-result", "wrong-side"),
        Mistake("right_vectors_as_they_come", "wrong-result", "rows-for-columns"),
        Mistake("weights_in_the_basis", "wrong-result", "not-unit"),
        Mistake("the_last_directions", "wrong-result", "last-directions"),
        Mistake("gradient_before_basis", "wrong-result", "other-order"),
        Mistake("weights_for_the_gradient", "wrong-result", "small-shape"),
        Mistake("basis_alone", "wrong-result", "no-pair"),
        Mistake("directions_in_float32", "wrong-result", "seven-digits"),
        Mistake("directions_by_chance", "wrong-result", "not-the-main"),
        Mistake("a_view_of_all_vectors", "over-budget", "whole-basis"),
    ),
    equivalent_mutants={
        "galore_project:constant:left, _, right = torch.linalg.svd(gradient, full_matrices=True)": (
            "The vectors that are added come after the main ones, and none of them is taken."
        ),
    },
    source="Zhao et al. 2024, GaLore, arXiv 2403.03507, section 3 and algorithm 2",
)
