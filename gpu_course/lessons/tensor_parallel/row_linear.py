"""Puzzle `row_linear`: a linear layer whose inputs are shared out among the ranks."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.column_linear import LINEAR_CASES, random_linear_case
from gpu_course.lessons.tensor_parallel.pieces import (
    SUMS,
    alike,
    all_reduce_bytes,
    cut,
    drawn,
    within_passes,
    wrong_outputs,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import (
    Case,
    Finding,
    PerRank,
    PythonPuzzle,
    Values,
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, tokens = ranks_of(case), case.sizes["tokens"]
    inner, outer = case.sizes["inner"], case.sizes["outer"]
    return {
        "kind": "row",
        "x": PerRank(cut(drawn(rng, case, tokens, inner), ranks, 1)),
        "weight": PerRank(cut(drawn(rng, case, outer, inner), ranks, 1)),
        "bias": drawn(rng, case, outer),
        "dy": drawn(rng, case, tokens, outer),
    }


def _shares(inputs: Values) -> list[np.ndarray]:
    """Returns what each rank's columns of the input give of y, without the bias."""
    parts = zip(inputs["x"].parts, inputs["weight"].parts, strict=True)
    return [x @ weight.T for x, weight in parts]


def _reference(inputs: Values, case: Case) -> Values:
    ranks, dy = ranks_of(case), inputs["dy"]
    x = np.concatenate(inputs["x"].parts, 1)
    weight = np.concatenate(inputs["weight"].parts, 1)
    return {
        "y": (x @ weight.T + inputs["bias"],) * ranks,
        "dx": cut(dy @ weight, ranks, 1),
        "dweight": cut(dy.T @ x, ranks, 1),
        "dbias": (dy.sum(0),) * ranks,
    }


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    ranks, numbers = ranks_of(case), inputs["dy"].size
    return within_passes(got, ranks, all_reduce_bytes(numbers, ranks), 0)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, bias = ranks_of(case), inputs["bias"]
    if "failed" in got or ranks == 1:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    wrong, right = wrong_outputs(expected, got), expected["y"][0]
    if "y" in wrong:
        shares, y = _shares(inputs), got["y"]
        if alike(y, [right + (ranks - 1) * bias] * ranks):
            return "bias-of-every-rank"
        if alike(y, [right - bias] * ranks):
            return "no-bias"
        if alike(y, [share + bias for share in shares]):
            return "own-share-of-y"
        if alike(y, [right - bias + (bias if rank == 0 else 0) for rank in range(ranks)]):
            return "bias-on-one-rank"
        mean = (right - bias) / ranks
        return "averaged" if alike(y, [mean + bias] * ranks) else None
    if "dx" in wrong and len({each.shape for each in expected["dx"]}) == 1:
        added = np.sum(expected["dx"], axis=0)
        return "different-inputs-added" if alike(got["dx"], [added] * ranks) else None
    if "dbias" in wrong:
        if alike(got["dbias"], [ranks * each for each in expected["dbias"]]):
            return "same-gradient-added"
        if alike(got["dbias"], [each / ranks for each in expected["dbias"]]):
            return "dbias-shared"
    return None


ROW_LINEAR = PythonPuzzle(
    **told(__file__),
    harness="gpu_course.lessons.tensor_parallel.harness.linear_passes",
    ranks=ranks_of,
    torch=True,
    cases=LINEAR_CASES,
    random_case=random_linear_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=SUMS,
    judge=_judge,
    diagnose=_diagnose,
)
