"""What the stubs of lesson 29 promise of their input, and what holds it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _calls(given: Values) -> list[tuple[Any, ...]]:
    """All calls of a case, each (function, what is asked for, order, sizes)."""
    return [call for calls in given["calls"].values() for call in calls]


def _at_least_1(given: Values) -> bool:
    return all(size >= 1 for *_, sizes in _calls(given) for size in sizes.values())


def _many(given: Values) -> bool:
    return any(math.prod(sizes.values()) == 16_384 for *_, sizes in _calls(given))


def _left_out(given: Values) -> bool:
    return any(set(order) - set(sizes) for _, _, order, sizes in _calls(given))


def _unknown_axis(given: Values) -> bool:
    return any(set(axes) - set(order) for _, axes, order, _ in _calls(given))


def _placed(given: Values) -> tuple[Any, ...]:
    """(sizes, traffic, node, rack) of a case of `placement`."""
    _, *arguments = given["calls"]["order"][0]
    return tuple(arguments)


def _ranks(given: Values) -> int:
    return math.prod(_placed(given)[0].values())


def _whole_parts(given: Values) -> bool:
    sizes, traffic, *_ = _placed(given)
    return all(
        isinstance(sent, int) and sent >= 0 and (pattern != "all to all" or sizes[axis] == 1
        or sent % (sizes[axis] - 1) == 0)
        for axis, (pattern, sent) in traffic.items()
    )  # fmt: skip


def _finite_float64(given: Values) -> bool:
    return all(
        each.dtype == np.float64 and bool(np.isfinite(each).all()) for each in given["weights"]
    )


PROMISES: dict[str, tuple[Promise, ...]] = {
    "coords": (
        everywhere("how many places there are along an axis, at least 1", _at_least_1),
        Promise("An axis of the order that is not in it has one place", _left_out),
        Promise("There may be 16,384 ranks", _many),
        Promise(
            "Raise ValueError where there is no answer", lambda given: "refused" in given["calls"]
        ),
    ),
    "groups": (
        everywhere("how many places there are along an axis, at least 1", _at_least_1),
        Promise("An axis of the order that is not in it has one place", _left_out),
        Promise("There may be 16,384 ranks", _many),
        Promise("No axes at all are right", lambda given: not _calls(given)[0][1]),
        Promise("one of the axes is not in the order", _unknown_axis),
    ),
    "placement": (
        everywhere("there are up to 64 ranks", lambda given: _ranks(given) <= 64),
        Promise("up to 64 ranks", lambda given: _ranks(given) == 64),
        everywhere("All bytes are whole numbers, 0 or more", _whole_parts),
        Promise(
            "the last node may not be full",
            lambda given: bool(_ranks(given) % _placed(given)[2]),
        ),
        Promise("alone in its group sends nothing", lambda given: 1 in _placed(given)[0].values()),
    ),
    "one_model_every_axis": (
        Promise("the last one filled up", lambda given: given["config"]["dp"] == 3),
        everywhere("All numbers are finite and float64", _finite_float64),
    ),
}
