"""What the stubs of lesson 17 promise of their input, and what holds it."""

from __future__ import annotations

from gpu_course.lessons.checkpointing.recompute import smooth_chain
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import (
    Promise,
    everywhere,
    one_of,
    takes_another_schedule,
)


def _batch_is_finite(given: Values) -> bool:
    return bool(smooth_chain(given["blocks"], given["width"], given["seed"])[1].isfinite().all())


ANY_WITHIN = Promise("Any schedule within these bounds will do.", by=takes_another_schedule)


LENGTHS = (
    everywhere("1 or more", lambda given: given["arguments"][0] >= 1),
    Promise("1 or more", lambda given: given["arguments"][0] == 1),
)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "checkpoint": (
        everywhere("a float32 tensor of finite numbers", _batch_is_finite),
        Promise("one stage in two places", one_of("again", 1)),
        Promise("a .grad need not begin at 0", one_of("begun", 1)),
    ),
    "rng_safe": (
        Promise("Autocast may take bfloat16", one_of("autocast", 1)),
        Promise("or float16", one_of("half", 1)),
    ),
    "sqrt_plan": (
        *LENGTHS,
        Promise("need not be a square", lambda given: given["arguments"][0] == 10),
        ANY_WITHIN,
    ),
    "log_plan": (
        *LENGTHS,
        Promise("need not be a power of 2", lambda given: given["arguments"][0] == 13),
        ANY_WITHIN,
    ),
    "revolve": (
        *LENGTHS,
        Promise("even more than stages", lambda given: given["arguments"][1] > given["stages"]),
        Promise("among them; 1 or more", lambda given: given["arguments"][1] == 1),
        Promise("any of them will do", by=takes_another_schedule),
    ),
}

ALIKE = {"sqrt_plan", "log_plan"}
"""Their short chains have one best schedule, whatever was drawn."""
