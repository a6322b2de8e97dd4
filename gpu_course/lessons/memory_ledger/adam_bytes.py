"""Puzzle `adam_bytes`: what a model takes before any data."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
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


def _case(
    name: str, tensors: int, weight_bytes: int, master_copy: int, visible: bool = False, **more: int
) -> Case:
    sizes = {"tensors": tensors, "weight_bytes": weight_bytes, "master_copy": master_copy, **more}
    return Case(name, sizes, visible)


ADAM_BYTES = PythonPuzzle(
    **puzzle_fields(__file__),
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
)
