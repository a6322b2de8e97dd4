"""Puzzle `column_linear`: a linear layer whose outputs are shared out among the ranks."""

from __future__ import annotations

import numpy as np

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
from simt.text import count


def linear_case(
    ranks: int, tokens: int, inner: int, outer: int, name: str = "", visible: bool = False
) -> Case:
    """Returns a case of a layer of `inner` inputs and `outer` outputs on so many ranks."""
    words = name or f"{count(ranks, 'rank')}, {tokens} tokens, {inner} to {outer}"
    sizes = {"ranks": ranks, "tokens": tokens, "inner": inner, "outer": outer}
    return Case(words, sizes, visible)


LINEAR_CASES = (
    linear_case(2, 3, 4, 6, "visible example", visible=True),
    # The ranks divide neither inputs nor outputs.
    linear_case(2, 5, 3, 7),
    linear_case(1, 4, 5, 3),
    linear_case(3, 2, 7, 8),
    # So much that what is sent beside the calls would show.
    linear_case(3, 40, 120, 100),
    # Fewer numbers than ranks: some ranks have none.
    linear_case(4, 1, 3, 2),
)
"""One token and many; widths that the ranks divide, and widths that they do not."""


def random_linear_case(rng: np.random.Generator) -> Case:
    """Returns a case of two or four ranks and widths drawn at random."""
    tokens, inner, outer = (int(rng.integers(5, 14)) for _ in range(3))
    return linear_case(int(rng.choice([2, 4])), tokens, inner, outer, "widths drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, tokens = ranks_of(case), case.sizes["tokens"]
    inner, outer = case.sizes["inner"], case.sizes["outer"]
    return {
        "kind": "column",
        "x": drawn_array(rng, case, tokens, inner),
        "weight": PerRank(cut(drawn_array(rng, case, outer, inner), ranks)),
        "bias": PerRank(cut(drawn_array(rng, case, outer), ranks)),
        "dy": PerRank(cut(drawn_array(rng, case, tokens, outer), ranks, 1)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    ranks, x = ranks_of(case), inputs["x"]
    weight = np.concatenate(inputs["weight"].parts)
    bias = np.concatenate(inputs["bias"].parts)
    dy = np.concatenate(inputs["dy"].parts, 1)
    return {
        "y": cut(x @ weight.T + bias, ranks, 1),
        "dx": (dy @ weight,) * ranks,
        "dweight": cut(dy.T @ x, ranks),
        "dbias": cut(dy.sum(0), ranks),
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks = ranks_of(case)
    return within_passes(got, ranks, 0, all_reduce_bytes(inputs["x"].size, ranks))


COLUMN_LINEAR = PythonPuzzle(
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
