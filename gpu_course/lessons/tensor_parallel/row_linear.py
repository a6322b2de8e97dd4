"""Puzzle `row_linear`: a linear layer whose inputs are shared out among the ranks."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.column_linear import LINEAR_CASES, random_linear_case
from gpu_course.lessons.tensor_parallel.pieces import (
    DIAGNOSES,
    SUMS,
    alike,
    all_reduce_bytes,
    cut,
    drawn,
    ranks_of,
    within_passes,
    wrong_outputs,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Mistake,
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


DEBRIEF = Debrief(
    shows=("booked_bytes",),
    why=(
        "Each output is a sum over all inputs, and every rank has the terms of its own: one "
        "all-reduce adds them up. The gradient of y is on every rank, so backward misses nothing."
    ),
    alternative=(
        "Rank 0 alone may add the bias before the sum, as some libraries do. Where every rank "
        "wants only some tokens of y, a reduce-scatter does, for half of the bytes."
    ),
)

ROW_LINEAR = PythonPuzzle(
    name="24_tensor_parallel/row_linear",
    title="a layer cut by its inputs",
    difficulty="easy",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Every rank has some columns of x and the weights that belong to them. Write both passes "
        "of the layer: every rank ends with the whole y, in which the bias is added once."
    ),
    parameters={"row_forward": ("x", "weight", "bias"), "row_backward": ("dy", "x", "weight")},
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
    diagnoses={
        **DIAGNOSES,
        "bias-of-every-rank": (
            "The bias is in y as often as there are ranks. Every rank has a copy of it: does it "
            "belong into the shares that are summed?"
        ),
        "no-bias": "The bias is missing from y.",
        "own-share-of-y": (
            "y is what this rank's columns of x give. Each output is a sum over all columns: where "
            "are the other terms?"
        ),
        "bias-on-one-rank": (
            "Rank 0 has the bias in its y, and the others have not. Every rank goes on with this y."
        ),
        "averaged": (
            "y is made of the mean over the ranks. They did not see different data, as in data "
            "parallelism: each of them has other terms of one sum."
        ),
        "different-inputs-added": (
            "dx is a sum over gradients of different inputs. This rank's columns of x went into "
            "its own share alone."
        ),
        "same-gradient-added": (
            "dbias is too large by the number of ranks. dy is the same on all of them, and so is "
            "what each computes from it."
        ),
        "dbias-shared": (
            "dbias is too small by the number of ranks. Each rank has the whole bias and the whole "
            "dy: what is its gradient?"
        ),
        "backward-bytes": (
            "The gradients are right, and something was sent in the backward pass. dy is on every "
            "rank already: which of the three gradients needs more than that?"
        ),
        "input-changed": (
            "An input was written to. all_reduce works in place: give it a tensor of your own."
        ),
    },
    hints=(
        "Take a layer of two inputs and one token, and write each output as a sum by hand.",
        (
            "Each rank can compute the terms that its inputs give to every output. What is missing "
            "then is one collective, and the bias."
        ),
        (
            "Forward: the product, its sum over the ranks, then the bias. Backward: everything "
            "that the three gradients need is on this rank."
        ),
    ),
    mistakes=(
        Mistake("adds_the_bias_first", "wrong-result", "bias-of-every-rank"),
        Mistake("leaves_out_the_bias", "wrong-result", "no-bias"),
        Mistake("keeps_its_share", "wrong-result", "own-share-of-y"),
        Mistake("adds_the_bias_on_rank_0", "wrong-result", "bias-on-one-rank"),
        Mistake("averages", "wrong-result", "averaged"),
        Mistake("gathers_the_input", "over-budget", "forward-bytes"),
        Mistake("adds_on_rank_0_alone", "hazard", "calls-differ"),
        Mistake("adds_y_in_float32", "wrong-result", "seven-digits"),
        Mistake("adds_dx_up", "wrong-result", "different-inputs-added", "row_backward"),
        Mistake("adds_dbias_up", "wrong-result", "same-gradient-added", "row_backward"),
        Mistake("shares_dbias_out", "wrong-result", "dbias-shared", "row_backward"),
        Mistake("averages_dbias", "over-budget", "backward-bytes", "row_backward"),
        Mistake("sums_dy_in_place", "input-changed", "input-changed", "row_backward"),
    ),
    source=(
        "Shoeybi et al., Megatron-LM: Training multi-billion parameter language models using model "
        "parallelism, arXiv 1909.08053, section 3"
    ),
)
