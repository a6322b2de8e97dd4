"""Puzzle `rng_safe`: a checkpoint that draws the same numbers and moves no buffer twice."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpu_course.lessons.checkpointing.wrapped import (
    SLACK_BYTES,
    case,
    held,
    inputs_for,
    is_close,
    plain_run,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

OUTPUT_NUMBERS = 6 * 8 * 8
"""Of each channel of a stage's output; see training.checkpointing.noisy_chain."""
RANDOM_STATE_BYTES = 5056
"""What a state of PyTorch's generator takes."""


def _random_case(rng: np.random.Generator) -> Case:
    blocks, channels = int(rng.integers(2, 5)), int(rng.integers(4, 10))
    return case("a chain drawn at random", blocks, channels)


def _reference(inputs: Values, chosen: Case) -> Values:
    compared = ("loss", "gradients", "batch_gradient", "buffers", "next_random")
    return plain_run(inputs, compared)


def _judge(inputs: Values, chosen: Case, got: Values) -> Judgement | None:
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; once forward and once more is enough"
        return Judgement("run-too-often", fact, "over-budget")
    blocks = inputs["blocks"]
    inputs_bytes = blocks * OUTPUT_NUMBERS * inputs["width"] * 4
    allowed = inputs_bytes + (blocks + 1) * RANDOM_STATE_BYTES + _buffer_bytes(inputs)
    if got["kept_bytes"] > allowed + SLACK_BYTES:
        fact = (
            f"{got['kept_bytes']:,} bytes are alive before the backward pass; the inputs of the "
            f"stages take {inputs_bytes:,}, with a state of the generator each and a copy of all "
            f"buffers {allowed:,}"
        )
        return Judgement("keeps-everything", fact, "over-budget")
    return None


def _diagnose(inputs: Values, chosen: Case, expected: Values, got: Values) -> str | None:
    same = {
        name: got[name] == value if isinstance(value, float) else np.array_equal(got[name], value)
        for name, value in expected.items()
    }
    if not same["loss"]:
        return "other-run"
    if not (same["gradients"] and same["batch_gradient"]):
        if inputs.get("autocast"):
            return "other-precision"
        if inputs.get("spectral"):
            return "other-start"
        both = ("gradients", "batch_gradient")
        close = all(is_close(got[name], expected[name]) for name in both)
        return "rounded" if close else "other-noise"
    if not same["buffers"]:
        return _wrong_buffers(inputs, expected["buffers"], got["buffers"])
    return "generator-left"


def _stages(inputs: Values) -> Any:
    from gpu_course.lessons.checkpointing.recompute import noisy_chain

    spectral = bool(inputs.get("spectral"))
    return noisy_chain(inputs["blocks"], inputs["width"], inputs["seed"], spectral=spectral)[0]


def _buffer_bytes(inputs: Values) -> int:
    return sum(buffer.nbytes for stage in _stages(inputs) for buffer in stage.buffers())


def _wrong_buffers(inputs: Values, right: np.ndarray, got: np.ndarray) -> str:
    import torch

    stages = _stages(inputs)
    owned = [
        (buffer.double().flatten(), isinstance(module, torch.nn.BatchNorm2d))
        for stage in stages
        for module in stage.modules()
        for buffer in module.buffers(recurse=False)
    ]
    if np.array_equal(got, torch.cat([buffer for buffer, _ in owned]).numpy()):
        return "statistics-back"
    of_norms = np.concatenate([np.full(len(buffer), norm) for buffer, norm in owned])
    return "other-buffers" if np.array_equal(got[of_norms], right[of_norms]) else "statistics-twice"


RNG_SAFE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.checkpointing.harness.checkpointed_chain",
    torch=True,
    cases=(
        case("visible example", 3, 8, visible=True),
        case("one stage and the loss", 1, 5),
        case("a longer chain", 6, 6),
        case("outputs that depend on a buffer", 2, 7, spectral=1),
        case("under autocast", 2, 5, autocast=1),
        case("under autocast in float16", 2, 5, autocast=1, half=1),
    ),
    random_case=_random_case,
    inputs=partial(inputs_for, "rng_safe"),
    reference=_reference,
    judge=_judge,
    self_check="how often a stage runs",
    held=held(40, 8, 400, 132),
    diagnose=_diagnose,
)
