"""Puzzle `stash_bug`: a pipeline without flushes, and the weights that a backward pass needs."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NAMES = ("outputs", "input_gradients", "weight", "versions")


def _case(
    name: str, ahead: int, microbatches: int, visible: bool = False, drains: bool = False
) -> Case:
    return sized(
        name, visible=visible, ahead=ahead, microbatches=microbatches, filled_first=int(drains)
    )


def _random_case(rng: np.random.Generator) -> Case:
    return _case("drawn at random", int(rng.integers(1, 5)), int(rng.integers(1, 9)))


def _order(ahead: int, microbatches: int, drains: bool) -> list[str]:
    """Returns the order of a stage with `ahead` stages from it on: 1F1B, or fill and drain."""
    warm = microbatches if drains else min(ahead, microbatches)
    order = [f"F{each}" for each in range(warm)]
    for each in range(microbatches):
        order.append(f"B{each}")
        if warm + each < microbatches:
            order.append(f"F{warm + each}")
    return order


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ahead, microbatches = case.sizes["ahead"], case.sizes["microbatches"]
    return {
        "order": _order(ahead, microbatches, bool(case.sizes["filled_first"])),
        "weight": rng.standard_normal((3, 2)),
        "inputs": [rng.standard_normal((4, 3)) for _ in range(microbatches)],
        "gradients": [rng.standard_normal((4, 2)) for _ in range(microbatches)],
        "rate": float(rng.uniform(0.05, 0.2)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    weight = inputs["weight"]
    stash: dict[int, int] = {}
    versions = [weight]
    outputs, back, most = [], [], 1
    for action in inputs["order"]:
        each = int(action[1:])
        if action[0] == "F":
            stash[each] = len(versions) - 1
            outputs.append(inputs["inputs"][each] @ versions[-1])
        else:
            used = versions[stash.pop(each)]
            back.append(inputs["gradients"][each] @ used.T)
            step = inputs["inputs"][each].T @ inputs["gradients"][each]
            versions.append(versions[-1] - inputs["rate"] * step)
        most = max(most, len({*stash.values(), len(versions) - 1}))
    return dict(zip(NAMES, (outputs, back, versions[-1], most), strict=True))


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    result = got["result"]
    if not isinstance(result, list | tuple) or len(result) != len(NAMES):
        what = f"{len(result)} values" if isinstance(result, list | tuple) else f"{result!r:.40}"
        raise Unusable(f"it returned {what}, and {', '.join(NAMES)} are asked for", "wrong-form")
    outputs, back, *rest = (list(x) if isinstance(x, tuple) else x for x in result)
    named = dict(zip(NAMES, (outputs, back, *rest), strict=True))
    return named | {"percent_off_with_the_newest": round(100 * off_by_the_newest(inputs))}


def off_by_the_newest(inputs: Values) -> float:
    """Returns how far from right gradients to the input are that are taken with newest weights.

    It is the largest relative distance of a microbatch's.
    """
    weight, met, worst = inputs["weight"], {}, 0.0
    for action in inputs["order"]:
        each = int(action[1:])
        if action[0] == "F":
            met[each] = weight
        else:
            gradient = inputs["gradients"][each]
            right, newest = gradient @ met.pop(each).T, gradient @ weight.T
            worst = max(worst, float(np.linalg.norm(newest - right) / np.linalg.norm(right)))
            weight = weight - inputs["rate"] * inputs["inputs"][each].T @ gradient
    return worst


STASH_BUG = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 3, 5, visible=True),
        _case("the last stage", 1, 4),
        _case("two stages", 2, 6),
        _case("four stages", 4, 9),
        _case("fewer microbatches than stages", 5, 2),
        _case("one microbatch", 2, 1),
        _case("filled and drained", 3, 5, drains=True),
        _case("no microbatch", 3, 0),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    tolerance=(1e-9, 1e-12),
)
