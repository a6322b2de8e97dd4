"""Puzzle `row_linear`: a linear layer whose inputs are shared out among the ranks."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.column_linear import LINEAR_CASES, random_linear_case
from gpu_course.lessons.tensor_parallel.pieces import (
    SUMS,
    all_reduce_bytes,
    cut,
    drawn_array,
    within_passes,
)
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, tokens = ranks_of(case), case.sizes["tokens"]
    inner, outer = case.sizes["inner"], case.sizes["outer"]
    return {
        "kind": "row",
        "x": PerRank(cut(drawn_array(rng, case, tokens, inner), ranks, 1)),
        "weight": PerRank(cut(drawn_array(rng, case, outer, inner), ranks, 1)),
        "bias": drawn_array(rng, case, outer),
        "dy": drawn_array(rng, case, tokens, outer),
    }


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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, numbers = ranks_of(case), inputs["dy"].size
    return within_passes(got, ranks, all_reduce_bytes(numbers, ranks), 0)


ROW_LINEAR = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.tensor_parallel.harness.linear_passes",
    ranks=ranks_of,
    torch=True,
    cases=LINEAR_CASES,
    random_case=random_linear_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=SUMS,
    judge=_judge,
)
