"""Puzzle `coords`: from a rank to its place on each axis, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.meshes.orders import LLAMA_3, MEGATRON, Given, drawn
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

KNOWN: dict[str, Given] = {
    "visible example": Given(LLAMA_3, {"tp": 2, "cp": 3, "pp": 2, "dp": 2}),
    "Megatron's order, sizes left out": Given(MEGATRON, {"tp": 4, "dp": 3, "pp": 2}),
    "the sizes in another order": Given(("pp", "dp", "tp"), {"dp": 2, "tp": 5, "pp": 3}),
    "axes of one place": Given(LLAMA_3, {"tp": 1, "cp": 3, "pp": 1, "dp": 4}),
    "one axis": Given(("dp",), {"dp": 7}),
    "one rank": Given(MEGATRON, {}),
    "the 16,384 GPUs of Llama 3": Given(LLAMA_3, {"tp": 8, "cp": 1, "pp": 16, "dp": 128}),
}
NAMES = tuple(KNOWN)
_HERE = Given(("tp", "pp", "dp"), {"tp": 2, "pp": 3})
_PLACE = {"tp": 1, "pp": 2, "dp": 0}
ODD: dict[str, list[tuple[Any, ...]]] = {
    "ranks that are not there": [("coords", rank, *_HERE.arguments) for rank in (6, -1, 123)],
    "orders that do not fit": [
        ("coords", 1, ["tp", "pp", "tp"], {"tp": 2, "pp": 3}),
        ("coords", 1, ["tp", "pp"], {"tp": 2, "pp": 3, "dp": 2}),
        ("rank_of", {"tp": 1, "pp": 2}, ["tp", "pp", "tp"], {"tp": 2, "pp": 3}),
        ("rank_of", {"tp": 1, "pp": 2}, ["tp", "pp"], {"tp": 2, "pp": 3, "cp": 2}),
    ],
    "places that are not there": [
        ("rank_of", {"tp": 1, "pp": 2}, *_HERE.arguments),
        ("rank_of", {**_PLACE, "cp": 0}, *_HERE.arguments),
        ("rank_of", {**_PLACE, "pp": 3}, *_HERE.arguments),
        ("rank_of", {**_PLACE, "dp": 1}, *_HERE.arguments),
        ("rank_of", {**_PLACE, "tp": -1}, *_HERE.arguments),
    ],
}
"""Calls that have no answer."""
ODD_NAMES = tuple(ODD)
MOST = 40


def _given(rng: np.random.Generator, case: Case) -> Given:
    return KNOWN[NAMES[case.sizes["order"]]] if case.sizes["order"] >= 0 else drawn(rng)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if "odd" in case.sizes:
        return {"calls": {"refused": ODD[ODD_NAMES[case.sizes["odd"]]]}}
    given = _given(rng, case)
    mesh, count = given.mesh, given.mesh.ranks
    ranks = list(range(count)) if count <= MOST else sorted(map(int, rng.integers(0, count, MOST)))
    back = [mesh.coords(int(rank)) for rank in rng.permutation(ranks)]
    # A place names its axes in any order.
    places = [{axis: place[axis] for axis in rng.permutation(list(place))} for place in back]
    return {
        "calls": {
            "places": [("coords", rank, *given.arguments) for rank in ranks],
            "ranks": [("rank_of", place, *given.arguments) for place in places],
        }
    }


def right(call: Any) -> Any:
    """Returns what a call of `coords` or `rank_of` gives."""
    function, given, order, sizes = call
    mesh = Given(tuple(order), sizes).mesh
    return mesh.coords(given) if function == "coords" else mesh.rank(given)


def _reference(inputs: Values, case: Case) -> Values:
    if "odd" in case.sizes:
        return {"refused": [REFUSED] * len(inputs["calls"]["refused"])}
    return {name: [right(call) for call in calls] for name, calls in inputs["calls"].items()}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "odd" in case.sizes:
        return "not-refused"
    results = [*got["places"], *got["ranks"]]
    if REFUSED in results:
        return "refused"
    if not all(isinstance(each, dict) for each in got["places"]):
        return "wrong-form"
    axes = [set(place) for place in expected["places"]]
    found = [set(place) for place in got["places"]]
    return "axis-left-out" if any(f < a for f, a in zip(found, axes, strict=False)) else None


def _call(inputs: Values) -> str:
    """All calls in one line: a message names the place of the wrong one in the list."""
    calls = inputs["calls"]
    function, given, order, sizes = next(iter(calls.values()))[0]
    if "refused" in calls:
        others = len(calls["refused"]) - 1
        return f"{function}({given}, {order}, {sizes})" + (f", and {others} more" if others else "")
    ranks = [rank for _, rank, *_ in calls["places"]]
    which = f"0 to {ranks[-1]}" if ranks == list(range(len(ranks))) else "drawn at random"
    return f"coords(rank, {order}, {sizes}), ranks {which}; then rank_of back, mixed"


COORDS = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing",
    cases=(
        *(Case(name, {"order": number}, number == 0) for number, name in enumerate(NAMES)),
        *(Case(name, {"order": 0, "odd": number}) for number, name in enumerate(ODD_NAMES)),
    ),
    random_case=lambda rng: Case("an order drawn at random", {"order": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
)
