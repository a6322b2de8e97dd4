"""Puzzle `galore_project`: a gradient in its main directions."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Held,
    Judgement,
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    rows, columns = inputs["gradient"].shape
    held = 8 * inputs["rank"] * (rows + columns)
    if got["bytes"] <= held:
        return None
    fact = f"{got['bytes']:,} bytes are kept by basis and small gradient; they show {held:,}"
    return Judgement("whole-basis", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    right, mine = tuple(expected["basis_shape"]), tuple(got["basis_shape"])
    rows, columns = inputs["gradient"].shape
    if mine != right:
        return "wrong-side" if mine == (rows + columns - right[0], right[1]) else None
    if not np.allclose(got["products"], expected["products"], *_TOLERANCE):
        return "not-unit"
    if list(got["small_shape"]) != expected["small_shape"]:
        return "small-shape"
    # Any orthonormal basis gives a projection; this one lost more of the gradient than it had to.
    restored = (got["restored"], expected["restored"])
    lost, least = (np.linalg.norm(inputs["gradient"] - each) for each in restored)
    return "not-the-main" if lost > least else None


_TOLERANCE = (1e-7, 1e-9)

MANY = Case("many gradients", {"rows": 128, "columns": 128, "rank": 1, "layers": 240})


GALORE_PROJECT = PythonPuzzle(
    **puzzle_fields(__file__),
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
)
