"""Puzzle `galore_adam`: Adam whose moments live in the main directions."""

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

SPARE_BYTES = 64
"""What a counter or two may take."""


def _case(name: str, *sizes: int, visible: bool = False, **more: int) -> Case:
    names = ("rows", "columns", "rank", "refresh", "steps")
    return Case(name, dict(zip(names, sizes, strict=True)) | more, visible)


def _random_case(rng: np.random.Generator) -> Case:
    rows, columns = (int(side) for side in rng.integers(6, 20, size=2))
    refresh = int(rng.integers(2, 5))
    return _case(
        "sizes drawn at random",
        rows,
        columns,
        int(rng.integers(1, min(rows, columns) - 2)),
        refresh,
        refresh * 2 + int(rng.integers(1, refresh)),
    )


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes
    shape = (size["rows"], size["columns"])
    gradients = rng.normal(size=(size["steps"], *shape))
    # A neuron that is never active has no gradient, and only Adam's epsilon to be divided by.
    if shape[0] <= shape[1]:
        gradients[:, :, 1] = 0.0
    else:
        gradients[:, 1] = 0.0
    # One that hardly ever is has gradients as small as epsilon: where that is added shows here.
    if "tiny" in size:
        gradients[..., 0] *= 1e-8
    return {
        "weight": rng.normal(size=shape),
        "gradients": gradients,
        "rank": size["rank"],
        "refresh": size["refresh"],
        "rate": float(rng.uniform(0.01, 0.1)),
        "scale": float(rng.uniform(0.2, 0.6)),
        **({"others": size["others"]} if "others" in size else {}),
    }


def _reference(inputs: Values, case: Case) -> Values:
    import torch

    from gpu_course.lessons.smaller_states.galore import GaLoreAdam

    weight = torch.nn.Parameter(torch.from_numpy(inputs["weight"].copy()))
    settings: Any = {name: inputs[name] for name in ("rank", "refresh", "rate", "scale")}
    optimizer = GaLoreAdam([weight], **settings)
    for gradient in inputs["gradients"]:
        weight.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
    return {
        "projections": -(-len(inputs["gradients"]) // inputs["refresh"]),
        "weight": weight.detach().numpy(),
        "weight_of_another": weight.detach().numpy(),
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    rows, columns = inputs["weight"].shape
    short, long = sorted((rows, columns))
    limit = 8 * inputs["rank"] * (short + 2 * long) + SPARE_BYTES
    if got["state_bytes"] <= limit:
        return None
    fact = (
        f"{got['state_bytes']:,} bytes are left in state; {limit:,} are enough for a basis, two "
        f"small moments and a counter"
    )
    return Judgement("large-state", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if got["projections"] == expected["projections"]:
        return None
    every = got["projections"] >= len(inputs["gradients"])
    return "every-step" if every else "never" if got["projections"] <= 1 else None


_TOLERANCE = (1e-7, 1e-9)

MANY = Case(
    "many weights",
    {"rows": 16, "columns": 16_000, "rank": 1, "refresh": 2, "steps": 2, "others": 45},
)


GALORE_ADAM = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.smaller_states.harness.galore_adam",
    torch=True,
    cases=(
        _case("visible example", 8, 12, 3, 4, 6, visible=True),
        _case("more rows than columns", 15, 7, 2, 3, 8),
        _case("square", 9, 9, 4, 2, 5),
        _case("one update", 6, 10, 2, 5, 1),
        _case("one direction", 7, 11, 1, 4, 9),
        _case("gradients as small as epsilon", 6, 9, 2, 3, 5, tiny=1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    self_check="how often directions are chosen",
    held=(Held(MANY, 112 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
)
