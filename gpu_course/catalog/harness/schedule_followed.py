"""Harness of the planning puzzles: follows the answer's schedule on a real chain, and measures."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.catalog.harness import Unusable
from gpu_course.errors import CourseError
from gpu_course.training.chains import real_chain
from gpu_course.training.schedules.chain import Chain, Stage, uniform
from gpu_course.training.schedules.followed import follow
from gpu_course.training.schedules.operations import Schedule, account, account_until
from gpu_course.training.schedules.written import read, written

CAUSES = {
    "its input is not in memory": "input-missing",
    "the gradient at hand": "backward-order",
    "has not saved everything": "not-saved",
    "the schedule ends": "unfinished",
}
"""What `account` says of a schedule that cannot be followed, and its diagnosis."""


def run(
    answer: ModuleType,
    function: str,
    arguments: Sequence[Any],
    chain: str,
    stages: Sequence[Mapping[str, int]] | int,
    seed: int,
    slot_bytes: int = 1,
) -> dict[str, Any]:
    """Returns the answer's schedule and, where the chain is a real one, what following it took.

    Args:
        answer: the learner's module.
        function: what of it plans.
        arguments: what the function gets.
        chain: "equal", "resnet", "transformer", or "" for numbers alone.
        stages: the sizes of the stages; of equal ones, how many there are.
        seed: of parameters, data and dropout.
        slot_bytes: of the sizes; nothing here depends on it.
    """
    sizes = (
        uniform(stages)
        if isinstance(stages, int)
        else Chain(tuple(Stage(**stage) for stage in stages))
    )
    pairs = getattr(answer, function)(*copy.deepcopy(list(arguments)))
    if hasattr(pairs, "__next__"):
        pairs = list(pairs)
    try:
        schedule = read(pairs)
    except CourseError as error:
        raise Unusable(f"{function}: {error.fact}", "wrong-form") from error
    try:
        rises = account(sizes, schedule).rises
    except CourseError as error:
        cause = next((key for words, key in CAUSES.items() if words in error.fact), "impossible")
        raise Unusable(error.fact, cause, {"got": _broken(sizes, schedule)}) from error
    found: dict[str, Any] = {"schedule": written(schedule), "rises": list(rises)}
    if chain:
        modules, batch = real_chain(chain, len(sizes), seed)
        found |= follow(modules, batch, schedule, seed)
    return found


def _broken(sizes: Chain, schedule: Schedule) -> dict[str, Any]:
    """What a picture shows of a schedule that cannot be followed to its end."""
    rises, stop = account_until(sizes, schedule)
    fact = "the schedule ends too early" if stop is None else stop.fact
    return {"schedule": written(schedule), "rises": list(rises), "broken": fact}
