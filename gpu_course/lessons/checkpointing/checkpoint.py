"""Puzzle `checkpoint`: a stage that keeps its input alone, as an autograd function of one's own."""

from __future__ import annotations

from functools import partial

import numpy as np

from gpu_course.lessons.checkpointing.wrapped import (
    SLACK_BYTES,
    case,
    held,
    inputs_for,
    is_close,
    plain_run,
    zero_share,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

ROWS = 32
"""Of the batch; see training.checkpointing.smooth_chain."""


def _random_case(rng: np.random.Generator) -> Case:
    blocks, width = int(rng.integers(2, 6)), 8 * int(rng.integers(2, 5))
    return case("a chain drawn at random", blocks, width)


def _reference(inputs: Values, chosen: Case) -> Values:
    return plain_run(inputs, ("loss", "gradients", "batch_gradient"))


def _judge(inputs: Values, chosen: Case, got: Values) -> Judgement | None:
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; once forward and once more is enough"
        return Judgement("run-too-often", fact, "over-budget")
    # Of every stage but the first its input, which the stage before it gave; and the loss.
    inputs_bytes = inputs["blocks"] * ROWS * inputs["width"] * 4
    if got["kept_bytes"] > inputs_bytes + SLACK_BYTES:
        fact = (
            f"{got['kept_bytes']:,} bytes are alive before the backward pass; "
            f"the inputs of the stages take {inputs_bytes:,}"
        )
        # A block that keeps everything keeps ten times its input.
        copies = 2 * (inputs_bytes + ROWS * inputs["width"] * 4) + SLACK_BYTES
        key = "keeps-copies" if got["kept_bytes"] <= copies else "keeps-everything"
        return Judgement(key, fact, "over-budget")
    return None


def _diagnose(inputs: Values, chosen: Case, expected: Values, got: Values) -> str | None:
    if inputs.get("begun"):
        return "gradients-replaced"
    if inputs.get("again"):
        return "one-input-per-stage"
    gradients, last = got["gradients"], got["batch_gradient"]
    if not np.any(gradients) and not np.any(last):
        return "no-second-pass"
    if not np.any(gradients) and np.array_equal(last, expected["batch_gradient"]):
        return "parameters-forgotten"
    if not np.any(last) and zero_share(gradients) > 0.5 * zero_share(expected["gradients"]):
        return "chain-cut"
    if got["loss"] == expected["loss"] and np.all(np.isfinite(gradients)):
        both = ("gradients", "batch_gradient")
        close = all(is_close(got[name], expected[name]) for name in both)
        return "rounded" if close else "incoming-gradient"
    return None


CHECKPOINT = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.checkpointing.harness.checkpointed_chain",
    torch=True,
    cases=(
        case("visible example", 3, 16, visible=True),
        case("one block and the loss", 1, 32),
        case("a longer chain", 7, 24),
        case("a wide chain", 2, 64),
        case("gradients of an earlier part are there", 2, 16, begun=1),
        case("one block in two places", 3, 16, again=1),
    ),
    random_case=_random_case,
    inputs=partial(inputs_for, "checkpoint"),
    reference=_reference,
    judge=_judge,
    self_check="how often a stage runs; copies that take the place of what they are made of",
    held=held(40, 16, 10_000, 192),
    diagnose=_diagnose,
)
