"""Puzzle `explain_the_gap`: a real layer against 34 + 5as/h."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

REASONS = ("dropout masks", "layer norm statistics", "causal mask", "wide softmax")


def _case(name: str, *sizes: int, visible: bool = False) -> Case:
    names = ("sequence", "batch", "hidden", "heads", "element_bytes", "softmax_bytes")
    return Case(name, dict(zip(names, sizes, strict=True)), visible)


def _random_case(rng: np.random.Generator) -> Case:
    heads = int(rng.integers(1, 5))
    element = int(rng.choice([2, 4]))
    softmax = int(rng.choice([element, 4]))
    return _case(
        "a layer drawn at random",
        int(rng.integers(2, 20)),
        int(rng.integers(1, 4)),
        heads * int(rng.integers(2, 6)),
        heads,
        element,
        softmax,
    )


def _reference(inputs: Values, case: Case) -> Values:
    """Runs the layer and adds up its ledger: nothing here knows a formula."""
    import torch

    from gpu_course.lessons.memory_ledger import gap
    from gpu_course.measure.activation_formulas import LayerShape
    from gpu_course.measure.model import Layer

    sizes = case.sizes
    shape = LayerShape(sizes["sequence"], sizes["batch"], sizes["hidden"], sizes["heads"])
    dtype = torch.float32 if sizes["element_bytes"] == 4 else torch.bfloat16
    wide = sizes["softmax_bytes"] > sizes["element_bytes"]
    layer = Layer(shape.hidden, shape.heads, softmax_float32=wide).to(dtype)
    by_name = {line.name: line.difference for line in gap.explain(layer, shape)}
    found = {
        "dropout masks": sum(v for name, v in by_name.items() if name.endswith("dropout mask")),
        "layer norm statistics": by_name[gap.STATISTICS],
        "causal mask": by_name[gap.CAUSAL_MASK],
        "wide softmax": by_name["softmax output"],
    }
    assert sum(found.values()) == sum(by_name.values()), "a reason for the gap has no name"
    return {"result": found}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    counted = got.get("result")
    if not isinstance(counted, dict) or set(counted) != set(REASONS):
        return "names"
    s, b, h = inputs["sequence"], inputs["batch"], inputs["hidden"]
    width, scores = inputs["element_bytes"], inputs["heads"] * s * s * b
    ways = (
        ("whole-masks", "dropout masks", width * (scores + 2 * s * b * h)),
        ("too-few-masks", "dropout masks", (width - 1) * scores),
        ("too-few-masks", "dropout masks", (width - 1) * (scores + s * b * h)),
        ("narrow-masks", "dropout masks", scores + 2 * s * b * h),
        ("one-norm", "layer norm statistics", 2 * s * b * width),
        ("statistics-per-number", "layer norm statistics", 4 * s * b * h * width),
        ("wide-statistics", "layer norm statistics", 4 * s * b * 4),
        ("mask-per-head", "causal mask", scores),
        ("mask-per-head", "causal mask", inputs["heads"] * s * s),
        ("mask-per-head", "causal mask", b * s * s),
        ("wide-mask", "causal mask", width * s * s),
        ("half-a-mask", "causal mask", s * (s + 1) // 2),
        ("half-a-mask", "causal mask", s * (s - 1) // 2),
        ("whole-softmax", "wide softmax", inputs["softmax_bytes"] * scores),
    )
    for key, reason, wrong in ways:
        if counted[reason] == wrong != expected["result"][reason]:
            return key
    return None


EXPLAIN_THE_GAP = PythonPuzzle(
    **puzzle_fields(__file__),
    torch=True,
    cases=(
        # No two of batch, heads and width are equal: what was counted by the wrong one shows.
        _case("visible example", 8, 3, 20, 5, 2, 2, visible=True),
        _case("float32", 7, 3, 10, 2, 4, 4),
        _case("bfloat16 with a softmax in float32", 9, 2, 16, 4, 2, 4),
        _case("one head, one sequence", 12, 1, 8, 1, 2, 2),
        _case("long sequence", 40, 2, 12, 4, 2, 4),
        _case("one token, one number", 1, 1, 1, 1, 4, 4),
    ),
    random_case=_random_case,
    inputs=lambda rng, case: dict(case.sizes),
    reference=_reference,
    diagnose=_diagnose,
)
