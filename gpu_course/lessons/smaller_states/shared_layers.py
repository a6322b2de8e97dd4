"""Puzzle `shared_layers`: one layer in the place of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Held,
    Judgement,
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
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
    return Judgement("keeps-more", fact, "over-budget")


_TOLERANCE = (1e-8, 1e-10)


SHARED_LAYERS = PythonPuzzle(
    **puzzle_fields(__file__),
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
    tolerance=_TOLERANCE,
)
