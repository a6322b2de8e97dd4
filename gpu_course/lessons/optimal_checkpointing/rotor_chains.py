"""The chains of puzzle `rotor`: real ones in slots, ones drawn at random, and two made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

SLOTS = 40
"""How many slots the plain run of a real chain takes."""

FIELDS = (
    "output_bytes",
    "saved_bytes",
    "forward_bytes",
    "forward_saving_bytes",
    "backward_bytes",
    "output_gradient_bytes",
    "forward_cost",
    "backward_cost",
)

# Chains on which one thing at a time decides: a stage whose plain forward pass needs more room than
# anything else done at it, a place that just fits, and costs that differ by 1.
BY_HAND = {
    "room to run forward": (
        (1, 0, 1, 2, 0, 1, 2, 2),
        (1, 2, 1, 4, 0, 1, 3, 1),
        (4, 2, 6, 7, 1, 3, 3, 3),
        (3, 1, 3, 5, 2, 2, 1, 3),
        (4, 1, 8, 6, 0, 2, 1, 3),
        (3, 2, 9, 5, 0, 1, 2, 3),
        (4, 0, 6, 6, 1, 3, 1, 2),
    ),
    "the batch takes nothing": (
        (1, 0, 5, 3, 2, 1, 2, 1),
        (3, 0, 8, 4, 1, 1, 3, 3),
        (1, 0, 3, 2, 3, 2, 3, 3),
        (2, 3, 8, 6, 0, 1, 2, 1),
        (2, 1, 6, 3, 1, 3, 1, 2),
    ),
}
MEMORY_BY_HAND = {"room to run forward": 17, "the batch takes nothing": 12}


def by_hand(name: str) -> list[dict[str, int]]:
    """Returns the stages of a chain of BY_HAND."""
    return [dict(zip(FIELDS, sizes, strict=True)) for sizes in BY_HAND[name]]


def as_called(inputs: Mapping[str, Any], function: str = "rotor") -> str:
    """Returns the call of a case: the memory, and the numbers of every stage in their order.

    >>> as_called({"arguments": [by_hand("the batch takes nothing")[:1], 12]})[-55:]
    'gradient; cost forward, back): (1, 0, 5, 3, 2, 1; 2, 1)'
    """
    stages, memory = inputs["arguments"]
    words = "output, saved, forward, saving, backward, gradient; cost forward, back"
    numbers = []
    for stage in stages:
        sizes = ", ".join(str(stage[name]) for name in FIELDS[:6])
        numbers.append(f"({sizes}; {stage['forward_cost']}, {stage['backward_cost']})")
    return f"{function}(stages, {memory}) where each stage is ({words}): {' '.join(numbers)}"


def forgetful(stages: list[dict[str, int]]) -> dict[str, list[dict[str, int]]]:
    """Returns {key of a diagnosis: the chain as one sees it who forgets what the key says}."""
    return {
        "no-gradients": [{**stage, "output_gradient_bytes": 0} for stage in stages],
        "no-temporaries": [
            {
                **stage,
                "forward_bytes": stage["output_bytes"],
                "forward_saving_bytes": stage["output_bytes"] + stage["saved_bytes"],
                "backward_bytes": 0,
            }
            for stage in stages
        ],
    }


def at_random(rng: np.random.Generator, length: int) -> list[dict[str, int]]:
    """Returns stages whose sizes and costs have nothing to do with each other."""
    return [_random_stage(rng) for _ in range(length)]


def with_wide_rises(rng: np.random.Generator, length: int) -> list[dict[str, int]]:
    """Returns stages of which any operation may rise far, so that any may decide on the peak."""
    stages = at_random(rng, length)
    for stage in stages:
        stage["forward_bytes"] += int(rng.integers(0, 40))
        stage["forward_saving_bytes"] += int(rng.integers(0, 30))
        stage["backward_bytes"] = int(rng.integers(0, 40))
        stage["output_gradient_bytes"] = int(rng.integers(1, 9))
    return stages


@lru_cache(maxsize=4)
def measured(kind: str) -> tuple[list[dict[str, int]], int]:
    """Returns (stages in slots, bytes of a slot) of a real chain of measure.chains."""
    from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
    from gpu_course.lessons.optimal_checkpointing.pareto import slot_bytes_of
    from gpu_course.measure.chains import CHAINS

    chain = measure_chain(*CHAINS[kind](0))
    slot_bytes = slot_bytes_of(chain, SLOTS)
    return [asdict(stage) for stage in chain.in_slots(slot_bytes).stages], slot_bytes


def chain_of(stages: list[dict[str, int]]) -> Any:
    """Returns the Chain of some stages."""
    from gpu_course.measure.schedules.chain import Chain, Stage

    return Chain(tuple(Stage(**stage) for stage in stages))


def memory_between(stages: list[dict[str, int]], percent: int) -> int:
    """Returns a memory so far on the way from the least that does to that of the plain run."""
    from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.plans import keep_everything

    chain = chain_of(stages)
    full = account(chain, keep_everything(len(chain))).peak
    least = solve(chain, full).least_memory()
    assert least is not None
    return least + (full - least) * percent // 100


def _random_stage(rng: np.random.Generator) -> dict[str, int]:
    output, saved = int(rng.integers(1, 6)), int(rng.integers(0, 12))
    return {
        "output_bytes": output,
        "saved_bytes": saved,
        "forward_bytes": output + int(rng.integers(0, 4)),
        "forward_saving_bytes": output + saved + int(rng.integers(0, 4)),
        "backward_bytes": int(rng.integers(1, 10)),
        "output_gradient_bytes": output,
        "forward_cost": int(rng.integers(1, 30)),
        "backward_cost": int(rng.integers(1, 60)),
    }
