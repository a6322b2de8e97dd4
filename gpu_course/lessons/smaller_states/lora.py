"""Puzzle `lora`: a narrow detour beside a frozen layer."""

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
from simt.text import count

SMALLEST, LARGEST = 1e-3, 10.0
"""The root of the mean square that the random one of A and B may begin with."""


def _case(name: str, *sizes: int, visible: bool = False) -> Case:
    return Case(name, dict(zip(("rows", "inner", "outer", "rank"), sizes, strict=True)), visible)


def _random_case(rng: np.random.Generator) -> Case:
    inner, outer = (int(side) for side in rng.integers(64, 120, size=2))
    return _case("a layer drawn at random", 3, inner, outer, int(rng.integers(2, 6)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, inner, outer, rank = (case.sizes[n] for n in ("rows", "inner", "outer", "rank"))
    return {
        "weight": rng.normal(size=(outer, inner)),
        "bias": rng.normal(size=outer),
        "x": rng.normal(size=(rows, inner)),
        "a": rng.normal(size=(rank, inner)),
        "b": rng.normal(size=(outer, rank)),
        "slope": rng.normal(size=(rows, outer)),
        # Neither the rank nor 1, so that a factor that is missing shows.
        "alpha": float(2 * rank + rng.integers(1, 5)),
        **({"tiles": case.sizes["tiles"]} if "tiles" in case.sizes else {}),
    }


def _reference(inputs: Values, case: Case) -> Values:
    tiles = inputs.get("tiles", 1)
    x, a = inputs["x"], inputs["a"]
    b, slope = np.tile(inputs["b"], (tiles, 1)), np.tile(inputs["slope"], (1, tiles))
    factor = inputs["alpha"] / len(a)
    plain = np.tile(x @ inputs["weight"].T + inputs["bias"], (1, tiles))
    return {
        "at_start": plain,
        "trained_numbers": a.size + b.size,
        "output": plain + factor * (x @ a.T) @ b.T,
        "gradient_a": factor * (slope @ b).T @ x,
        "gradient_b": factor * slope.T @ (x @ a.T),
        "gradient_x": tiles * inputs["slope"] @ inputs["weight"] + factor * (slope @ b) @ a,
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    (rows, inner), (outer, rank) = inputs["x"].shape, inputs["b"].shape
    if not got["directions"]:
        fact = "A and B are both 0 at the start, and so their gradients stay 0"
        return Judgement("both-zero", fact)
    if got["directions"] < rank:
        fact = f"a detour of rank {rank} begins with {count(got['directions'], 'direction')}"
        return Judgement("alike", fact)
    if not SMALLEST <= got["start_size"] <= LARGEST:
        fact = (
            f"the root of the mean square is {got['start_size']:.2g} in the random one of A and B; "
            f"{SMALLEST:g} to {LARGEST:g} is asked for"
        )
        return Judgement("start-size", fact)
    # A scaled copy of A, B and x is fine; the weight's own size is what nobody may take.
    limit = 8 * (rows * (4 * outer + 2 * rank + inner) + 2 * rank * (inner + outer))
    if got["peak_bytes"] <= limit:
        return None
    fact = (
        f"a forward pass takes {got['peak_bytes']:,} bytes; {limit:,} are enough, and "
        f"the layer's weight has {8 * inner * outer:,}"
    )
    return Judgement("whole-product", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows what differs whatever numbers the learner draws: what is trained, and how it starts."""
    if not np.allclose(got["at_start"], expected["at_start"], *_TOLERANCE):
        return "moves-at-start" if got["at_start"].any() else "detour-alone"
    if got["trained_numbers"] != expected["trained_numbers"]:
        return "not-frozen" if got["trained_numbers"] > expected["trained_numbers"] else None
    plain, output = expected["at_start"], got["output"]
    detour: Any = expected["output"] - plain
    away = output - plain
    factor = float((away * detour).sum() / (detour * detour).sum())
    return "scale" if np.allclose(away, factor * detour, *_TOLERANCE) else None


_TOLERANCE = (1e-7, 1e-9)

LARGE = Case("a large layer", {"rows": 1, "inner": 1000, "outer": 200, "rank": 2, "tiles": 40})


LORA = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.smaller_states.harness.lora",
    torch=True,
    cases=(
        _case("visible example", 3, 80, 64, 4, visible=True),
        _case("wider at the end", 2, 48, 144, 3),
        _case("rank 1", 3, 72, 56, 1),
        _case("one row", 1, 60, 60, 5),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    held=(Held(LARGE, 118 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
)
