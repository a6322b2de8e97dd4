"""Puzzle `adam_bytes`: what a model takes before any data."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    single, empty = case.sizes.get("single", 0), case.sizes.get("empty", 0)
    # One to three sides, none alike by accident.
    shapes = [
        tuple(int(side) for side in rng.integers(2, 12, size=int(rng.integers(1, 4))))
        for _ in range(case.sizes["tensors"] - single - empty)
    ]
    shapes += [()] * single + [(0, 3)] * empty
    return {
        "shapes": shapes,
        "weight_bytes": case.sizes["weight_bytes"],
        "master_copy": bool(case.sizes["master_copy"]),
    }


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.memory_ledger.mixed import measure_states

    states = measure_states(inputs["shapes"], inputs["weight_bytes"], inputs["master_copy"])
    return {"result": states}


def _random_case(rng: np.random.Generator) -> Case:
    weight_bytes = int(rng.choice([2, 4]))
    master = int(weight_bytes == 2 and rng.integers(2))
    sizes = {
        "tensors": int(rng.integers(1, 8)),
        "weight_bytes": weight_bytes,
        "master_copy": master,
    }
    return Case("a model drawn at random", sizes)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    shapes, width, master = inputs["shapes"], inputs["weight_bytes"], inputs["master_copy"]
    n = sum(math.prod(shape) for shape in shapes)
    rows = sum(shape[0] for shape in shapes if shape)
    sides = sum(sum(shape) for shape in shapes)
    counters, copy = 4 * len(shapes), 4 if master else 0
    updated = 4 if master else width
    before, jump = (2 * width + copy) * n, 2 * updated * n + counters
    ways = {
        "only-narrow-copies": (
            2 * width * n + (copy * n if width < 4 else 0),
            2 * updated * n + counters,
        ),
        "no-master": (2 * width * n, jump),
        "master-late": (2 * width * n, jump + copy * n),
        # With copies, half of the jump is two narrow moments; without, one moment.
        "narrow-moments": (before, 2 * width * n + counters),
        "one-moment": (before, updated * n + counters),
        "wide-moments": (before, 8 * n + counters),
        "no-gradients": ((width + copy) * n, jump),
        "empty-tensors": (
            before,
            2 * updated * n + 4 * sum(math.prod(shape) > 0 for shape in shapes),
        ),
        "no-counters": (before, 2 * updated * n),
        "one-counter": (before, 2 * updated * n + 4),
        "wide-gradients": ((width + 4 + copy) * n, jump),
        "all-in-jump": (before, before + jump),
        "swapped": (jump, before),
        "rows": ((2 * width + copy) * rows, 2 * updated * rows + counters),
        "single-numbers": (
            (2 * width + copy) * (n - shapes.count(())),
            2 * updated * (n - shapes.count(())) + counters,
        ),
        "sides": ((2 * width + copy) * sides, 2 * updated * sides + counters),
    }
    counted = got.get("result")
    if not isinstance(counted, tuple | list):
        return None
    for key, wrong in ways.items():
        if tuple(counted) == wrong != tuple(expected["result"]):
            return key
    return None


def _case(
    name: str, tensors: int, weight_bytes: int, master_copy: int, visible: bool = False, **more: int
) -> Case:
    sizes = {"tensors": tensors, "weight_bytes": weight_bytes, "master_copy": master_copy, **more}
    return Case(name, sizes, visible)


ADAM_BYTES = PythonPuzzle(
    **told(__file__),
    torch=True,
    cases=(
        _case("visible example", 2, 4, 0, visible=True),
        _case("bfloat16 with a float32 copy", 3, 2, 1),
        _case("bfloat16 alone", 4, 2, 0),
        _case("one tensor", 1, 4, 0),
        _case("nine tensors", 9, 2, 1),
        _case("two single numbers among them", 5, 4, 0, single=2),
        _case("an empty tensor among them", 4, 4, 0, empty=1),
        _case("float32 with a float32 copy", 3, 4, 1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
