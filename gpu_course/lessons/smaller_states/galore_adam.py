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
    if got["projections"] != expected["projections"]:
        every = got["projections"] >= len(inputs["gradients"])
        return "every-step" if every else "never" if got["projections"] <= 1 else None
    if np.array_equal(got["weight"], inputs["weight"]):
        return "not-in-place"
    if np.allclose(got["weight"], expected["weight"], *_TOLERANCE):
        return "state-elsewhere"
    ways: dict[str, dict[str, Any]] = {
        "no-scale": {"scale": 1.0},
        "cleared": {"clear": True},
        "no-correction": {"correct": False},
        "whole-moments": {"whole": True},
        "uphill": {"sign": 1},
        "turned": {"turn": True},
    }
    for key, way in ways.items():
        wrong = _otherwise(inputs, **way)
        # Roughly: a factor on the gradient is lost but for its share in Adam's epsilon.
        if np.allclose(got["weight"], wrong, 1e-4, 1e-6):
            return key
    under = (
        _otherwise(inputs, inside=inside, beside=beside)
        for inside, beside in ((1e-8, 0.0), (1e-16, 0.0), (1e-16, 1e-8), (1e-8, 1e-8))
    )
    inside = any(np.allclose(got["weight"], wrong, *_TOLERANCE) for wrong in under)
    return "epsilon-inside" if inside else None


def _otherwise(
    inputs: Values,
    *,
    scale: float | None = None,
    clear: bool = False,
    correct: bool = True,
    whole: bool = False,
    sign: int = -1,
    turn: bool = False,
    inside: float = 0.0,
    beside: float = 1e-8,
) -> np.ndarray:
    """Returns the weight that a variant of the method ends with, in plain NumPy."""
    import torch

    from gpu_course.lessons.smaller_states.projection import from_the_left, main_directions

    first: Any
    weight, first, second, age = inputs["weight"].copy(), 0.0, 0.0, 0
    by_left = from_the_left(weight.shape)
    basis = np.zeros(0)
    for step, gradient in enumerate(inputs["gradients"]):
        if step % inputs["refresh"] == 0:
            old, basis = basis, main_directions(torch.from_numpy(gradient), inputs["rank"]).numpy()
            if turn and step:
                first = basis.T @ old @ first if by_left else first @ old.T @ basis
            if clear:
                first, second, age = 0.0, 0.0, 0
        age += 1
        small = gradient if whole else basis.T @ gradient if by_left else gradient @ basis
        first = 0.9 * first + 0.1 * small
        second = 0.999 * second + 0.001 * small**2
        mean = first / (1 - 0.9**age if correct else 1)
        spread = np.sqrt(second / (1 - 0.999**age if correct else 1))
        change = mean / (np.sqrt(spread**2 + inside) + beside)
        if whole:
            change = basis.T @ change if by_left else change @ basis
        change = basis @ change if by_left else change @ basis.T
        factor = inputs["scale"] if scale is None else scale
        weight = weight + sign * inputs["rate"] * factor * change
    return weight


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
