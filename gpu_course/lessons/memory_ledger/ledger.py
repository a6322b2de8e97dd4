"""Puzzle `ledger`: the bytes a module keeps for its backward pass."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

KINDS = (
    "mlp",
    "square",
    "gate",
    "first columns",
    "dropout in bfloat16",
    "batch norm",
    "tokens",
    "transformer layer",
    "product of halves",
    "folded",
    "many sines",
)


def _case(number: int, rows: int, width: int, visible: bool = False) -> Case:
    name = "visible example: mlp" if visible else KINDS[number]
    return Case(name, {"kind": number, "rows": rows, "width": width}, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {
        "kind": KINDS[case.sizes["kind"]],
        "rows": case.sizes["rows"],
        "width": case.sizes["width"],
        "seed": int(rng.integers(1 << 30)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.memory_ledger.samples import sample
    from gpu_course.measure.saved import saved_bytes

    return {"kept_bytes": saved_bytes(*sample(**inputs))}


def _random_case(rng: np.random.Generator) -> Case:
    number, rows, width = (int(rng.integers(*span)) for span in ((0, len(KINDS)), (2, 9), (3, 9)))
    return Case(
        f"{KINDS[number]}, sizes drawn at random", {"kind": number, "rows": rows, "width": width}
    )


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Whose place is used again is chance: no other count has to fall short by as much.

    It is all that a chain of sines has: whoever is right before it counts each storage once.
    """
    counted = got.get("kept_bytes")
    if not isinstance(counted, int) or counted >= expected["kept_bytes"]:
        return None
    return "place-used-again" if inputs["kind"] == "many sines" else "too-little"


LEDGER = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.memory_ledger.harness.ledger",
    torch=True,
    cases=(
        _case(0, 4, 6, visible=True),
        # Early: what a hook loses by letting go of storages depends on the allocator in the others.
        _case(KINDS.index("many sines"), 5, 8),
        *(_case(number, 5, 8) for number in range(1, len(KINDS) - 1)),
        Case("mlp, one row", {"kind": 0, "rows": 1, "width": 3}),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
