"""Puzzle `rng_safe`: a checkpoint that draws the same numbers and moves no buffer twice."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gpu_course.lessons.checkpointing.wrapped import (
    ROUNDED,
    SLACK_BYTES,
    case,
    held,
    inputs_for,
    is_close,
    plain_run,
)
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values

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


def _judge(inputs: Values, chosen: Case, got: Values) -> Finding | None:
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; once forward and once more is enough"
        return Finding("run-too-often", fact, "over-budget")
    blocks = inputs["blocks"]
    inputs_bytes = blocks * OUTPUT_NUMBERS * inputs["width"] * 4
    allowed = inputs_bytes + (blocks + 1) * RANDOM_STATE_BYTES + _buffer_bytes(inputs)
    if got["kept_bytes"] > allowed + SLACK_BYTES:
        fact = (
            f"{got['kept_bytes']:,} bytes are alive before the backward pass; the inputs of the "
            f"stages take {inputs_bytes:,}, with a state of the generator each and a copy of all "
            f"buffers {allowed:,}"
        )
        return Finding("keeps-everything", fact, "over-budget")
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


DEBRIEF = Debrief(
    shows=("kept_bytes", "peak_bytes", "forward_passes"),
    why=(
        "A second run is the same run only if it finds what the first one found: the generator's "
        "state and the buffers. And it must leave no trace, so both are put back afterwards."
    ),
    alternative=(
        "fork_rng restores the generator even when the stage raises; saving and setting the state "
        "by hand is right while nothing fails. Buffers may be copied before the second run or "
        "swapped for copies during it."
    ),
)

RNG_SAFE = PythonPuzzle(
    name="17_checkpointing/rng_safe",
    title="the same run twice",
    difficulty="hard",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Make a checkpoint whose second run is the first one over again: the same dropout masks, "
        "the same buffers to begin with, under the same autocast. And it leaves no trace: buffers "
        "move once, and the random generator ends where the plain run leaves it."
    ),
    parameters={"rng_safe": ("stage", "x")},
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
    diagnoses={
        "other-noise": (
            "The loss is right and the gradients are not: they belong to other dropout masks than "
            "the loss does, or to none. Which state has the generator to be in when the stage is "
            "run again, and when do you have to look at it?"
        ),
        "rounded": ROUNDED,
        "other-run": (
            "Even the loss is another one: your first run draws other numbers than the plain run. "
            "Don't seed anything; look at the state that is there, and go back to it."
        ),
        "generator-left": (
            "All is equal but what comes next: whoever draws after you gets numbers that were "
            "drawn before. You turned the generator back for the second run; who turns it forward "
            "again?"
        ),
        "statistics-twice": (
            "A buffer moved twice, once for each run: a BatchNorm's running statistics, its count "
            "of batches, or what another module remembers. PyTorch's own checkpoint does that, "
            "too. Which tensors of a module are changed by merely running it?"
        ),
        "statistics-back": (
            "The buffers are where they were before anything ran. The first run was right to move "
            "them: what has to be put back is what the second run finds."
        ),
        "other-start": (
            "The loss is right and the gradients are slightly off. Here a stage's output depends "
            "on a buffer (spectral_norm keeps its singular vectors in two), and the first run "
            "moved it. From which buffers has the second run to begin?"
        ),
        "other-precision": (
            "The first run was under autocast, and the second one is not, or has another dtype: "
            "backward() is called outside of it. What was set in forward that backward does not "
            "find?"
        ),
        "other-buffers": (
            "BatchNorm's buffers are as they should be, and another module's moved twice. Look at "
            "what a stage remembers, not at what kind of module remembers it."
        ),
        "restored-too-early": (
            "You put the buffers back before the backward pass through the stage was over, and a "
            "BatchNorm's backward pass still has its statistics in hand. Which line has to wait?"
        ),
        "one-per-argument": (
            "backward returns one value for each argument of forward: None for the stage, and the "
            "gradient of x."
        ),
        "other-output": "What comes out is not what the stage makes of x. Return stage(x).",
        "nothing-to-start-from": (
            "backward() of a tensor that is no single number has to be told what to start from: "
            "the gradient that came in."
        ),
        "keeps-everything": (
            "The gradients are right, and no memory is won: what the backward pass needs is alive "
            "from the first run on, as if there were no checkpoint."
        ),
        "run-too-often": (
            "A stage is run more than twice. Cut the second run off from the stages before it."
        ),
        "no-graph": (
            "Inside backward, PyTorch builds no graph unless it is told to. Which context switches "
            "that on?"
        ),
        "not-cut-off": (
            "Going back through your second run went on into the stages before it. Begin it with a "
            "detached copy of x."
        ),
        "library": "That is PyTorch's own checkpoint. Build one.",
    },
    hints=(
        (
            "torch.get_rng_state() and torch.set_rng_state(state) read and set the generator. A "
            "state is some five thousand bytes: that may be kept."
        ),
        (
            "torch.random.fork_rng(devices=[]) is a context that puts the generator back when it "
            "ends. And module.buffers() gives what a module remembers without learning it."
        ),
        (
            "Copy the buffers in forward, before the first run. In backward note the present ones, "
            "begin from those of forward, and write the present ones back once the backward pass "
            "through the stage is over: autograd refuses what was changed meanwhile. "
            "torch.is_autocast_enabled and torch.get_autocast_dtype take a device type."
        ),
    ),
    mistakes=(
        Mistake("forgets_the_random_state", "wrong-result", "other-noise"),
        Mistake("looks_too_late", "wrong-result", "other-noise"),
        Mistake("second_run_in_eval_mode", "wrong-result", "other-noise"),
        Mistake("leaves_the_generator_behind", "wrong-result", "generator-left"),
        Mistake("moves_the_statistics_twice", "wrong-result", "statistics-twice"),
        Mistake("puts_back_too_much", "wrong-result", "statistics-back"),
        Mistake("puts_back_too_early", "wrong-result", "restored-too-early"),
        Mistake("spares_the_batchnorms_alone", "wrong-result", "other-buffers"),
        Mistake("returns_one_gradient", "wrong-result", "one-per-argument"),
        Mistake("starts_from_nothing", "wrong-result", "nothing-to-start-from"),
        Mistake("seeds_every_stage", "wrong-result", "other-run"),
        Mistake("begins_from_moved_buffers", "wrong-result", "other-start"),
        Mistake("forgets_autocast", "wrong-result", "other-precision"),
        Mistake("keeps_half_of_the_digits", "wrong-result", "rounded"),
        Mistake("the_plain_run", "over-budget", "keeps-everything"),
        Mistake("what_the_state_dict_holds", "wrong-result", "other-buffers"),
    ),
    source=(
        "torch.utils.checkpoint, preserve_rng_state, "
        "https://docs.pytorch.org/docs/stable/checkpoint.html"
    ),
)
