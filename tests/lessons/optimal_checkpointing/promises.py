"""What the stubs of lesson 18 promise of their input, and what holds it."""

from __future__ import annotations

import itertools

import numpy as np

from gpu_course.lessons.optimal_checkpointing import rotor_chains
from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.measure.schedules.operations import account
from gpu_course.measure.schedules.written import read
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere, one_of, takes_another_schedule


def _is_followed(given: Values) -> bool:
    account(rotor_chains.chain_of(given["stages"]), read(given["schedule"]))
    return True


ONE_STAGE = Promise("one stage or more", lambda given: len(given["stages"]) == 1)


def _sizes(given: Values) -> list[int]:
    return [number for stage in given["stages"] for number in stage.values()]


SIZES = (
    everywhere("whole numbers, 0 or more", lambda given: min(_sizes(given)) >= 0),
    Promise("whole numbers, 0 or more", lambda given: min(_sizes(given)) == 0),
)


def _fits(given: Values) -> bool:
    stages, memory = given.get("arguments") or (given["stages"], given["memory"])
    return bool(np.isfinite(solve(rotor_chains.chain_of(stages), memory).best_cost()))


def _has_equally_good_choices(given: Values) -> bool:
    products, budget = given["products"], given["budget"]
    worth = []
    for size in range(len(products) + 1):
        for chosen in itertools.combinations(products, size):
            if sum(product["bytes"] for product in chosen) <= budget:
                worth.append(sum(product["flops"] for product in chosen))
    return worth.count(max(worth)) > 1


PROMISES: dict[str, tuple[Promise, ...]] = {
    "schedule_peak": (
        ONE_STAGE,
        *SIZES,
        everywhere("that can be followed to its end", _is_followed),
    ),
    "best_cost": (
        everywhere("1 or more", lambda given: given["memory"] >= 1),
        Promise("too little for any schedule", lambda given: not _fits(given)),
    ),
    "rotor": (
        ONE_STAGE,
        *SIZES,
        everywhere("some schedule fits", _fits),
        Promise("equally cheap, any will do", by=takes_another_schedule),
    ),
    "selective_plan": (
        Promise("from 0 to", one_of("budget", 0)),
        Promise(
            "to more than enough",
            lambda given: sum(p["bytes"] for p in given["products"]) <= given["budget"],
        ),
        Promise(
            "an empty list where none fits",
            lambda given: min(p["bytes"] for p in given["products"]) > given["budget"],
        ),
        Promise("any where several are equally good", _has_equally_good_choices),
    ),
}

ALIKE = {"rotor"}
"""Their short chains have one best schedule, whatever was drawn."""
