"""What the stubs of lesson 19 promise of their input, and what holds it."""

from __future__ import annotations

from gpu_course.lessons.forward_gradients.problem import build
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere, finite


def _loss_is_finite(given: Values) -> bool:
    loss, point = build(given)
    return bool(point.isfinite().all()) and bool(loss(point).isfinite())


PROMISES: dict[str, tuple[Promise, ...]] = {
    "forward_gradient": (
        everywhere("(d,), finite, as the loss is", _loss_is_finite),
        everywhere("(d,), finite: the direction to take", finite("v")),
    ),
    "variance_law": (
        everywhere("finite floats", finite("gradient")),
        Promise("any of them 0", lambda given: 0.0 in given["gradient"]),
        Promise("d is 1 or more", lambda given: len(given["gradient"]) == 1),
    ),
    "k_directions": (
        Promise("k is from 1 to d", lambda given: len(given["normals"]) == 1),
        Promise(
            "k is from 1 to d", lambda given: given["normals"].shape[0] == given["normals"].shape[1]
        ),
    ),
}
