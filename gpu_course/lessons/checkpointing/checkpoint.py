"""Puzzle `checkpoint`: a stage that keeps its input alone, as an autograd function of one's own."""

from __future__ import annotations

from functools import partial

import numpy as np

from gpu_course.lessons.checkpointing.wrapped import (
    ROUNDED,
    SLACK_BYTES,
    case,
    held,
    inputs_for,
    is_close,
    plain_run,
    zero_share,
)
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values

ROWS = 32
"""Of the batch; see training.checkpointing.smooth_chain."""


def _random_case(rng: np.random.Generator) -> Case:
    blocks, width = int(rng.integers(2, 6)), 8 * int(rng.integers(2, 5))
    return case("a chain drawn at random", blocks, width)


def _reference(inputs: Values, chosen: Case) -> Values:
    return plain_run(inputs, ("loss", "gradients", "batch_gradient"))


def _judge(inputs: Values, chosen: Case, got: Values) -> Finding | None:
    most = max(got["forward_passes"])
    if most > 2:
        where = got["forward_passes"].index(most)
        fact = f"stage {where} is run {most} times; once forward and once more is enough"
        return Finding("run-too-often", fact, "over-budget")
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
        return Finding(key, fact, "over-budget")
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


DEBRIEF = Debrief(
    shows=("kept_bytes", "peak_bytes", "forward_passes"),
    why=(
        "The input is all it takes to have the stage's inner values again. The second run builds "
        "the graph that the first one was spared, and it lives only while this stage goes back."
    ),
    alternative=(
        "Calling backward() on the second run adds to the parameters' gradients by itself. "
        "torch.autograd.grad would hand them over instead, and you would add them."
    ),
)

CHECKPOINT = PythonPuzzle(
    name="17_checkpointing/checkpoint",
    title="keep the input, run it again",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Run a stage without keeping what its backward pass needs, and run it again when the "
        "backward pass gets there: the same gradients, bit for bit, from two forward passes."
    ),
    parameters={"checkpoint": ("stage", "x")},
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
    diagnoses={
        "keeps-everything": (
            "The gradients are right, and no memory is won: what the backward pass needs is alive "
            "from the first run on, as if there were no checkpoint. Who holds a graph, or a tensor "
            "that hangs on one?"
        ),
        "keeps-copies": (
            "The gradients are right, and more is alive than the inputs: a copy of each, perhaps. "
            "Keep x itself; the stage before yours made it, and it is there anyway."
        ),
        "no-graph": (
            "Inside backward, PyTorch builds no graph unless it is told to, so there was nothing "
            "to go back through. Which context switches that on?"
        ),
        "parameters-forgotten": (
            "The gradient of the input is right, and the parameters got none. torch.autograd.grad "
            "gives what it is asked for and adds to nothing; which call adds to .grad as it goes?"
        ),
        "gradients-replaced": (
            "Here gradients of an earlier part of the batch are there already, and they are gone "
            "or changed. Your backward has to add to each .grad, as backward() does."
        ),
        "one-input-per-stage": (
            "Here one stage stands in two places of the chain, with its own input in each. Where "
            "do you keep an input, so that a second call of the same stage leaves it alone?"
        ),
        "chain-cut": (
            "Stages before yours got no gradient: your backward has none to return for x. What "
            "does a detached tensor lack, so that its .grad stays empty?"
        ),
        "no-second-pass": (
            "No parameter got a gradient, and neither did the batch. Running the stage again "
            "builds a graph; who goes back through it?"
        ),
        "one-per-argument": (
            "forward has two arguments beside ctx, the stage and x, and backward has to return a "
            "gradient for each of them, in that order. What has no gradient gets None."
        ),
        "other-output": (
            "What comes out is not what the stage makes of x. Return stage(x): only what is kept "
            "on the way is another matter."
        ),
        "nothing-to-start-from": (
            "backward() of a tensor that is no single number has to be told what to start from: "
            "the gradient of the loss by that tensor. Who hands it to you?"
        ),
        "incoming-gradient": (
            "The gradients belong to another question. backward gets the gradient of the loss by "
            "y; your second pass has to start from that one."
        ),
        "rounded": ROUNDED,
        "not-cut-off": (
            "Going back through your second run went on into the stages before it, which is their "
            "own business. Where does the input of the second run hang on the rest?"
        ),
        "run-too-often": (
            "A stage is run more than twice. Run it again when the backward pass reaches it, and "
            "only then."
        ),
        "library": (
            "That is PyTorch's own checkpoint. Build one: an autograd function with a forward and "
            "a backward, ten lines in all."
        ),
    },
    hints=(
        (
            "Two things have to be there when backward is called: the stage and x. A tensor is "
            "put aside with ctx.save_for_backward, anything else as an attribute of ctx."
        ),
        (
            "In backward, begin anew: a copy of x that hangs on nothing and asks for a gradient, "
            "and a second run of the stage with graph building switched on."
        ),
        (
            "Calling backward on the new output, with the gradient that came in, fills .grad of "
            "the parameters and of your copy of x. Return one value for each argument of forward: "
            "None for the stage, and the gradient of x."
        ),
    ),
    mistakes=(
        Mistake("keeps_everything", "over-budget", "keeps-everything"),
        Mistake("graph_in_forward", "over-budget", "keeps-everything"),
        Mistake("recomputes_under_no_grad", "wrong-result", "no-graph"),
        Mistake("forgets_the_parameters", "wrong-result", "parameters-forgotten"),
        Mistake("detaches_the_input", "wrong-result", "chain-cut"),
        Mistake("ignores_what_comes_in", "wrong-result", "incoming-gradient"),
        Mistake("starts_from_nothing", "wrong-result", "nothing-to-start-from"),
        Mistake("hands_x_through", "wrong-result", "other-output"),
        Mistake("never_goes_back", "wrong-result", "no-second-pass"),
        Mistake("returns_one_gradient", "wrong-result", "one-per-argument"),
        Mistake("keeps_a_copy", "over-budget", "keeps-copies"),
        Mistake("runs_back_through_all", "wrong-result", "not-cut-off"),
        Mistake("calls_the_library", "wrong-result", "library"),
        Mistake("puts_gradients_in_their_place", "wrong-result", "gradients-replaced"),
        Mistake("an_input_for_each_stage", "wrong-result", "one-input-per-stage"),
        Mistake("keeps_half_of_the_digits", "wrong-result", "rounded"),
    ),
    source=(
        "Chen and others, arXiv 1604.06174; torch.utils.checkpoint, "
        "https://docs.pytorch.org/docs/stable/checkpoint.html"
    ),
)
