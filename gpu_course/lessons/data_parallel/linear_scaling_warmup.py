"""Puzzle `linear_scaling_warmup`: the rate of a large batch, from the one of a small batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values


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


def _late(step: int, at: list[int], _: int) -> int:
    return sum(step > milestone for milestone in at)


def _any(step: int, at: list[int], _: int) -> int:
    return int(any(step >= milestone for milestone in at))


_OTHERWISE: tuple[tuple[str, Callable[[Values], float]], ...] = (
    ("constant", lambda given: _rate(given, constant=True)),
    ("not-scaled", lambda given: _rate(given, full=lambda rate, _: rate)),
    ("root", lambda given: _rate(given, full=lambda rate, k: rate * math.sqrt(k))),
    ("scaled-down", lambda given: _rate(given, full=lambda rate, k: rate / k)),
    ("from-zero", lambda given: _rate(given, start=0.0)),
    ("no-warmup", lambda given: _rate(given, warmup=0)),
    ("ahead", lambda given: _rate(given, ahead=1)),
    ("late", lambda given: _rate(given, past=_late)),
    ("one-tenth", lambda given: _rate(given, past=_any)),
    ("after-warmup",
     lambda given: _rate(given, past=lambda s, at, w: sum(s >= m for m in at) if s >= w else 0)),
    ("from-warmup",
     lambda given: _rate(given, past=lambda s, at, w: sum(s >= m + w for m in at))),
)  # fmt: skip


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _rate(inputs)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result: Any = got["result"]
    if isinstance(result, bool) or not isinstance(result, int | float):
        return None
    for key, slip in _OTHERWISE:
        wrong = slip(inputs)
        if math.isclose(result, wrong, rel_tol=1e-9, abs_tol=1e-12) and not math.isclose(
            wrong, expected["result"], rel_tol=1e-9
        ):
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "k steps of a small batch and one of a batch k times as large move about equally far, "
        "as long as the gradient hardly changes in between. At the very start it does change, "
        "and there the warm-up keeps the steps short."
    ),
    alternative=(
        "The share of the warm-up, min(1, step / warmup_steps), leads from base_rate to the full "
        "rate without a branch; only a warm-up of 0 steps asks for one."
    ),
)

LINEAR_SCALING_WARMUP = PythonPuzzle(
    name="22_data_parallel/linear_scaling_warmup",
    title="the rate of a large batch",
    difficulty="easy",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "From the rate that suits one batch work out the rate at a step with another: in "
        "proportion to the rows, along a straight line in the warm-up, a tenth from each milestone."
    ),
    parameters={
        "linear_scaling_warmup": (
            "step",
            "base_rate",
            "base_batch",
            "batch",
            "warmup_steps",
            "milestones",
        )
    },
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-12),
    diagnose=_diagnose,
    diagnoses={
        "not-scaled": (
            "Your full rate is the base's, whatever the batch. With k times as many rows there "
            "are k times fewer steps: how long must each be?"
        ),
        "root": (
            "Your rate grows with the root of the batch. That keeps the noise of a step; asked "
            "for is what keeps the way that the same rows lead."
        ),
        "scaled-down": (
            "Your rate falls as the batch grows. Fewer steps are left for the same rows: should "
            "each be shorter?"
        ),
        "from-zero": (
            "Your warm-up begins at 0. The base's rate is known to be good, so from where can it "
            "begin?"
        ),
        "no-warmup": "Your rate is the full one in the warm-up already. What is it at step 0?",
        "constant": (
            "Your rate stays at the base's and then jumps. A jump by a large factor is what the "
            "straight line avoids."
        ),
        "ahead": (
            "Your warm-up is one step ahead. Which rate belongs to step 0, and which to step "
            "warmup_steps?"
        ),
        "late": "A milestone counts from its own step on. Yours counts one step later.",
        "one-tenth": "Behind several milestones it is a tenth of a tenth. How many are behind?",
        "after-warmup": "A milestone within the warm-up counts as well.",
        "from-warmup": "Milestones are steps of the run, counted from its beginning.",
    },
    hints=(
        "Three questions, one after the other: the full rate, the warm-up, the milestones.",
        "The full rate is the base's times batch / base_batch.",
        (
            "In the warm-up, step / warmup_steps of the way from base_rate to the full rate is "
            "done. Then divide by ten for each milestone that is not larger than step."
        ),
    ),
    mistakes=(
        Mistake("does_not_scale", "wrong-result", "not-scaled"),
        Mistake("scales_by_the_root", "wrong-result", "root"),
        Mistake("scales_down", "wrong-result", "scaled-down"),
        Mistake("warms_up_from_zero", "wrong-result", "from-zero"),
        Mistake("no_warmup", "wrong-result", "no-warmup"),
        Mistake("constant_warmup", "wrong-result", "constant"),
        Mistake("one_step_ahead", "wrong-result", "ahead"),
        Mistake("a_step_late", "wrong-result", "late"),
        Mistake("one_tenth_for_all", "wrong-result", "one-tenth"),
        Mistake("milestones_after_the_warmup", "wrong-result", "after-warmup"),
        Mistake("milestones_from_the_end_of_the_warmup", "wrong-result", "from-warmup"),
    ),
    source=(
        "Goyal and others 2017, Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, "
        "sections 2.1, 2.2 and 5.1"
    ),
)
