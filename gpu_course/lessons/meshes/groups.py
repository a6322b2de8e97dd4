"""Puzzle `groups`: the process groups of one axis, or of several at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.meshes.orders import LLAMA_3, MEGATRON, Given, drawn
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_EIGHT = Given(("tp", "cp", "dp"), {"tp": 2, "cp": 2, "dp": 2})
_THIRTY = Given(("tp", "pp", "dp"), {"dp": 2, "pp": 3, "tp": 5})
_LLAMA = Given(LLAMA_3, {"tp": 8, "cp": 1, "pp": 16, "dp": 128})
KNOWN: dict[str, tuple[tuple[str, ...], Given]] = {
    "visible example": (("pp",), Given(("tp", "pp", "dp"), {"tp": 2, "pp": 3, "dp": 2})),
    "two axes that are neighbours": (("dp", "cp"), _EIGHT),
    "two axes with one in between": (("dp", "tp"), _THIRTY),
    "the innermost axis": (("tp",), _THIRTY),
    "the outermost axis": (("dp",), _THIRTY),
    "the sizes in another order": (("pp", "dp"), Given(("pp", "tp", "dp"), _THIRTY.sizes)),
    "an axis of one place": (("cp",), Given(LLAMA_3, {"tp": 2, "dp": 3})),
    "no axis": ((), Given(("tp", "dp"), {"tp": 2, "dp": 3})),
    "all axes": (("dp", "pp", "tp"), Given(("tp", "pp", "dp"), {"tp": 3, "pp": 2, "dp": 2})),
    "one rank": (("tp",), Given(MEGATRON, {})),
    "Megatron's experts": (("ep",), Given(MEGATRON, {"ep": 4, "dp": 3, "pp": 2})),
    "data parallel groups of Llama 3": (("dp", "cp"), _LLAMA),
}
NAMES = tuple(KNOWN)
ODD: dict[str, tuple[Any, ...]] = {
    "an axis that the order has not": (["ep"], ["tp", "pp"], {"tp": 2, "pp": 3}),
    "an axis of the sizes that the order has not": (["tp"], ["tp", "pp"], {"tp": 2, "dp": 3}),
    "an axis twice in the order": (["tp"], ["tp", "pp", "tp"], {"tp": 2, "pp": 3}),
    "an axis asked for twice": (["tp", "tp"], ["tp", "pp"], {"tp": 2, "pp": 3}),
}
"""Arguments to which there is no answer."""
ODD_NAMES = tuple(ODD)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if "odd" in case.sizes:
        axes, order, sizes = ODD[ODD_NAMES[case.sizes["odd"]]]
    elif case.sizes["number"] >= 0:
        named, given = KNOWN[NAMES[case.sizes["number"]]]
        axes, (order, sizes) = list(named), given.arguments
    else:
        given = drawn(rng)
        order, sizes = given.arguments
        count = int(rng.integers(1, len(order)))
        axes = [str(axis) for axis in rng.permutation(order)[:count]]
    return {"calls": {"groups": [("groups", axes, order, sizes)]}}


def right(axes: list[str], order: list[str], sizes: dict[str, int]) -> list[list[int]]:
    """Returns the groups of these axes, sorted by their first rank."""
    return Given(tuple(order), sizes).mesh.groups(*axes)


def _reference(inputs: Values, case: Case) -> Values:
    if "odd" in case.sizes:
        return {"groups": REFUSED}
    _, *arguments = inputs["calls"]["groups"][0]
    return {"groups": right(*arguments)}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    (found,) = got["groups"]
    if isinstance(found, str) and found == REFUSED:
        return {"groups": found}
    _, _, order, sizes = inputs["calls"]["groups"][0]
    if "odd" in case.sizes:
        return {"groups": f"{found!r:.50}"}
    _check(found, Given(tuple(order), sizes).mesh.ranks)
    return {"groups": sorted([int(rank) for rank in group] for group in found)}


def _check(found: Any, ranks: int) -> None:
    """Raises Unusable unless each rank is in one group, and no group is without one."""
    rows = list | tuple | np.ndarray
    if not isinstance(found, rows) or not all(
        isinstance(group, rows) and all(_is_whole(rank) for rank in group) for group in found
    ):
        raise Unusable(f"it returned {found!r:.50}, no list of lists of ranks", "wrong-form")
    homes: dict[int, int] = {}
    for number, group in enumerate(found):
        if not len(group):
            raise Unusable(f"group {number} has no rank", "empty-group")
        for rank in group:
            if not 0 <= rank < ranks:
                fact = f"group {number} has rank {rank}, and there are {ranks} ranks"
                raise Unusable(fact, "no-such-rank")
            if rank in homes:
                where = "twice" if homes[rank] == number else f"and in group {homes[rank]}"
                raise Unusable(f"rank {rank} is in group {number} {where}", "doubled")
            homes[rank] = number
    if alone := set(range(ranks)) - set(homes):
        raise Unusable(f"rank {min(alone)} is in no group", "missing")


def _is_whole(rank: Any) -> bool:
    return isinstance(rank, int | np.integer) and not isinstance(rank, bool)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "odd" in case.sizes:
        return "not-refused"
    if got.get("groups") == REFUSED:
        return "refused"
    rising = sorted(sorted(group) for group in got["groups"])
    return "not-rising" if rising == expected["groups"] else None


def _call(inputs: Values) -> str:
    _, axes, order, sizes = inputs["calls"]["groups"][0]
    return f"groups({axes}, {order}, {sizes})"


GROUPS = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing",
    cases=(
        *(Case(name, {"number": number}, number == 0) for number, name in enumerate(NAMES)),
        *(Case(name, {"number": 0, "odd": number}) for number, name in enumerate(ODD_NAMES)),
    ),
    random_case=lambda rng: Case("an order drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    diagnose=_diagnose,
    call=_call,
)
