"""Puzzle `linear_scaling_warmup`: the rate of a large batch, from the one of a small batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(
    name: str, step: int, warmup: int, milestones: int, times: int = 32, visible: bool = False
) -> Case:
    """Returns a case.

    Args:
        name: as messages call it.
        step: its number.
        warmup: steps.
        milestones: how many; the first lies 2 steps behind the warm-up, each 10 behind the last.
        times: how many times the base's rows a batch has, in eighths.
        visible: as in Case.
    """
    return sized(
        name, visible=visible, step=step, warmup=warmup, milestones=milestones, times=times
    )


_EARLY = 9
"""Cases with so many milestones have their first one within the warm-up."""

CASES = (
    _case("visible example", 12, 10, 0, visible=True),
    _case("in the warm-up", 3, 10, 0),
    _case("the first step", 0, 10, 2),
    _case("the last step of the warm-up", 9, 10, 2),
    _case("the first step after it", 10, 10, 2),
    _case("before the second milestone", 21, 10, 2),
    _case("at the first milestone", 12, 10, 2),
    _case("behind three milestones", 40, 10, 3),
    _case("no warm-up", 0, 0, 1),
    _case("a batch as large as the base's", 4, 8, 1, times=8),
    _case("a smaller batch", 5, 8, 1, times=2),
    _case("a milestone in the warm-up", 6, 10, _EARLY),
)


def _random_case(rng: np.random.Generator) -> Case:
    step, warmup = int(rng.integers(0, 40)), int(rng.integers(1, 30))
    times = int(rng.integers(9, 400))
    return _case("a step drawn at random", step, warmup, int(rng.integers(0, 4)), times)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sizes = case.sizes
    base = 8 * int(rng.integers(2, 33))
    first = 4 if sizes["milestones"] == _EARLY else sizes["warmup"] + 2
    count = 1 if sizes["milestones"] == _EARLY else sizes["milestones"]
    return {
        "step": sizes["step"],
        "base_rate": int(rng.integers(2, 40)) / 100,
        "base_batch": base,
        "batch": base * sizes["times"] // 8,
        "warmup_steps": sizes["warmup"],
        "milestones": [first + 10 * k for k in range(count)],
    }


def _rate(
    given: Values,
    *,
    full: Callable[[float, float], float] = lambda rate, k: rate * k,
    start: float = 1.0,
    ahead: int = 0,
    warmup: int | None = None,
    constant: bool = False,
    past: Callable[[int, list[int], int], int] | None = None,
) -> float:
    """Returns the rate, or one of those that a slip leads to."""
    base, step = given["base_rate"], given["step"]
    length = given["warmup_steps"] if warmup is None else warmup
    whole = full(base, given["batch"] / given["base_batch"])
    share = 1.0 if step >= length else (step + ahead) / length
    if constant and step < length:
        share = 0.0
    rate = (1 - share) * base * start + share * whole
    return float(rate / 10 ** (past or _passed)(step, given["milestones"], length))


def _passed(step: int, at: list[int], _: int) -> int:
    return sum(step >= milestone for milestone in at)


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _rate(inputs)}


LINEAR_SCALING_WARMUP = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-12),
)
