"""Puzzle `shared_layers`: one layer in the place of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Held,
    Mistake,
    PythonPuzzle,
    Values,
)

SLACK = 1.05
"""How many times the bytes of the plain stack an answer may keep for its backward pass."""


def _case(name: str, rows: int, width: int, layers: int, visible: bool = False) -> Case:
    return Case(name, {"rows": rows, "width": width, "layers": layers}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    rows, width, layers = (int(rng.integers(*limits)) for limits in ((4, 9), (5, 12), (2, 7)))
    return _case("a stack drawn at random", rows, width, layers)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {
        "layers": case.sizes["layers"],
        "x": rng.normal(size=(case.sizes["rows"], case.sizes["width"])),
        "seed": int(rng.integers(1 << 30)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    """Runs separate copies of one layer, and adds their gradients up: nothing is shared here."""
    copies, output = _copies(inputs)
    output.sum().backward()
    per_copy = [[p.grad for p in copy.parameters()] for copy in copies]
    gradients = [sum(of_one) for of_one in zip(*per_copy, strict=True)]
    numbers = [gradient.numel() for gradient in gradients]
    return {
        "parameter_bytes": 8 * sum(numbers),
        "output": output.detach().numpy(),
        "gradient": np.concatenate([gradient.numpy().ravel() for gradient in gradients]),
        # Two moments as wide as the parameters.
        "state_bytes": 2 * 8 * sum(numbers),
    }


def _copies(inputs: Values, factor: int = 1) -> tuple[list[Any], Any]:
    import copy

    import torch

    from gpu_course.lessons.smaller_states.shared_problem import make_layer

    layer = make_layer(inputs["x"].shape[1], inputs["seed"])
    copies = [copy.deepcopy(layer) for _ in range(inputs["layers"] * factor)]
    x = torch.from_numpy(inputs["x"].copy())
    for each in copies:
        x = each(x)
    return copies, x


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    from gpu_course.lessons.smaller_states.shared_problem import make_layer
    from gpu_course.measure.peak import measure_peak

    def stack() -> Any:
        x = batch
        for layer in layers:
            x = layer(x)
        return x

    import torch

    width = inputs["x"].shape[1]
    layers = [make_layer(width, seed) for seed in range(inputs["layers"])]
    batch = torch.from_numpy(inputs["x"].copy())
    plain = measure_peak(stack).left_bytes
    if got["kept_bytes"] <= SLACK * plain:
        return None
    fact = f"{got['kept_bytes']:,} bytes are kept; a stack of separate layers keeps {plain:,}"
    return Finding("keeps-more", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    layers = inputs["layers"]
    if got["parameter_bytes"] == layers * expected["parameter_bytes"] and layers > 1:
        return "layers-of-their-own"
    if not np.allclose(got["output"], expected["output"], *_TOLERANCE):
        for count in range(1, 2 * layers + 2):
            output = _copies({**inputs, "layers": count})[1].detach().numpy()
            if np.allclose(got["output"], output, *_TOLERANCE):
                return "one-pass" if count == 1 else "wrong-count"
        return None
    if not np.allclose(got["gradient"], expected["gradient"], *_TOLERANCE):
        copies, output = _copies(inputs)
        output.sum().backward()
        for key, each in (("last-pass-only", copies[-1]), ("first-pass-only", copies[0])):
            alone = np.concatenate([p.grad.numpy().ravel() for p in each.parameters()])
            if np.allclose(got["gradient"], alone, *_TOLERANCE):
                return key
        return None
    return "states-of-their-own" if got["state_bytes"] > expected["state_bytes"] else None


_TOLERANCE = (1e-8, 1e-10)

DEBRIEF = Debrief(
    shows=("parameter_bytes", "state_bytes", "kept_bytes"),
    why=(
        "A module that is called several times has its parameters once, and autograd adds up what "
        "every call contributes to their gradient. What it keeps for the way back is still there "
        "for each call."
    ),
    alternative=(
        "A loop over one layer says it plainly. A list that holds the same module many times works "
        "too, since PyTorch counts a parameter once however often it is found."
    ),
)

SHARED_LAYERS = PythonPuzzle(
    name="20_smaller_states/shared_layers",
    title="one layer for all",
    difficulty="easy",
    minutes=6,
    debrief=DEBRIEF,
    statement=(
        "Build a stack of layers that all have the same parameters: the parameters and Adam's "
        "states of one layer, and the computation of many."
    ),
    parameters={"shared_layers": ("make_layer", "layers")},
    harness="gpu_course.lessons.smaller_states.harness.shared_layers",
    torch=True,
    cases=(
        _case("visible example", 5, 8, 4, visible=True),
        _case("one layer", 6, 7, 1),
        _case("two layers", 4, 10, 2),
        _case("twelve layers", 8, 6, 12),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    held=(
        Held(_case("a large batch", 20_000, 16, 32), 225 << 20),
        Held(_case("a wide stack", 2, 400, 40), 100 << 20),
    ),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
    diagnoses={
        "layers-of-their-own": (
            "Your stack has as many sets of parameters as layers. A copy has the same numbers and "
            "memory of its own. How often do you need make_layer?"
        ),
        "one-pass": (
            "The batch goes through the layer once. The parameters are shared; the work is that "
            "of the whole stack."
        ),
        "wrong-count": "The batch does not go through the layer as often as there are layers.",
        "last-pass-only": (
            "The gradient is that of the last pass alone. Backward goes no further than where a "
            "tensor was cut off its history."
        ),
        "first-pass-only": (
            "The gradient is that of the first pass alone. The later passes used parameters that "
            "are not in the module, or are cut off from it."
        ),
        "no-parameters": (
            "PyTorch finds the parameters of what is a member of a module, or stands in a "
            "torch.nn.ModuleList. In a plain list it does not look."
        ),
        "states-of-their-own": (
            "The parameters lie in one place, and yet each layer has Parameter objects of its own. "
            "Every one of them gets a gradient and two moments. Share the module, not the memory "
            "behind it."
        ),
        "keeps-more": (
            "The result is right, and more is kept for the backward pass than a stack of separate "
            "layers keeps. Does something make copies, or hold on to every output?"
        ),
    },
    hints=(
        "make_layer gives a new layer with each call. How many layers are there to be?",
        (
            "A module whose forward uses one member several times has its parameters once; "
            "autograd adds up what each use gives to their gradients."
        ),
        (
            "Call make_layer once. Write a torch.nn.Module with that layer as a member, and in "
            "forward a loop that sends x through it `layers` times."
        ),
    ),
    mistakes=(
        Mistake("a_layer_for_each", "wrong-result", "layers-of-their-own"),
        Mistake("copies_of_one", "wrong-result", "layers-of-their-own"),
        Mistake("once_through", "wrong-result", "one-pass"),
        Mistake("once_too_often", "wrong-result", "wrong-count"),
        Mistake("in_a_plain_list", "wrong-result", "no-parameters"),
        Mistake("detaches_between", "wrong-result", "last-pass-only"),
        Mistake("shares_memory_alone", "wrong-result", "states-of-their-own"),
        Mistake("copies_every_output", "over-budget", "keeps-more"),
    ),
    source="Lan et al. 2020, ALBERT, arXiv 1909.11942, section 3.1",
)
