"""Puzzle `find_the_faulty_rank`: a straggler by waits, a flipped bit by sums."""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from gpu_course.lessons.failures.fleet import LEAST_TICKS, TICK_S, Fleet, recorded
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

LATE = 3 * LEAST_TICKS

FLEETS: dict[str, Fleet] = {
    "visible example": Fleet(
        6, 20, late={4: (LATE, 18)}, pauses=(1, 2),
        flips={(3, 2): 40, (7, None): 45, (12, 5): 62, (15, 0): 1},
        spoiled={(9, 3): math.nan, (17, None): math.nan},
    ),
    "a sound run": Fleet(8, 60, pauses=(0, 1, 1, 5)),
    "a sound run whose sums cancel": Fleet(5, 40, pauses=(2, 3), cancels=True),
    "gradients that overflow": Fleet(
        4, 12, overflows={2: math.inf, 5: -math.inf, 8: math.nan}, flips={(5, 1): 3, (9, 2): 30}
    ),
    "results that are not a number": Fleet(
        5, 12, flips={(7, 4): 20},
        spoiled={(1, 0): math.nan, (4, None): math.inf, (7, None): math.nan, (9, 4): -math.inf},
    ),
    "two ranks of one node": Fleet(8, 30, late={2: (LATE, 30), 3: (2 * LATE, 30)}),
    "late in half of the steps": Fleet(5, 20, late={1: (LATE, 10)}),
    "late in one step more": Fleet(5, 20, late={3: (LATE, 11)}),
    "late by just so much": Fleet(5, 15, late={2: (LEAST_TICKS, 12)}),
    "late by a little less": Fleet(5, 15, late={2: (LEAST_TICKS - 1, 15)}),
    "the last bits": Fleet(7, 10, flips={(1, 6): 0, (4, 0): 2, (9, 3): 1}, cancels=True),
    "a reduction that adds wrong": Fleet(
        4, 16, flips={(2, None): 50, (6, None): 62, (11, None): 30, (6, 1): 4}
    ),
    "three of seven": Fleet(7, 9, flips={(4, 0): 50, (4, 3): 62, (4, 6): 10}, cancels=True),
    "one rank": Fleet(1, 6),
    "no step": Fleet(3, 0),
}  # fmt: skip
NAMES = tuple(FLEETS)


def _random_fleet(rng: np.random.Generator) -> Fleet:
    ranks, steps = int(rng.integers(3, 12)), int(rng.integers(12, 50))
    late = {int(rng.integers(ranks)): (LATE, int(rng.integers(steps // 4, steps)))}
    flips: dict[tuple[int, int | None], int] = {
        (int(step), int(rng.integers(ranks))): int(rng.integers(0, 63))
        for step in rng.choice(steps, 3, replace=False)
    }
    flips[int(rng.integers(steps)), None] = int(rng.integers(40, 63))
    pauses = tuple(int(rank) for rank in rng.integers(0, ranks, 3))
    return Fleet(ranks, steps, late=late, pauses=pauses, flips=flips)


def fleet_of(rng: np.random.Generator, case: Case) -> Fleet:
    """Returns what happens in a case."""
    number = case.sizes["fleet"]
    return FLEETS[NAMES[number]] if number >= 0 else _random_fleet(rng)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    fleet = fleet_of(rng, case)
    return {**recorded(rng, fleet), "least": LEAST_TICKS * TICK_S}


def slow_ranks(arrived: np.ndarray, left: np.ndarray, least: float) -> list[int]:
    """Returns the ranks that keep the others waiting, as the puzzle has it."""
    late = [0] * arrived.shape[1]
    for came, went in zip(arrived.tolist(), left.tolist(), strict=True):
        waits = [b - a for a, b in zip(came, went, strict=True)]
        for rank, wait in enumerate(waits):
            late[rank] += median(waits) - wait >= least
    return [rank for rank, times in enumerate(late) if times > len(arrived) / 2]


def corrupt_ranks(
    own: np.ndarray, sizes: np.ndarray, result: np.ndarray
) -> list[tuple[int, int | None]]:
    """Returns (step, rank) of each corrupt result, rank None for the reduction itself."""
    found: list[tuple[int, int | None]] = []
    for step, values in enumerate(result.tolist()):
        # As text NaN is NaN, and two floats are alike if they are equal.
        words = ["nan" if math.isnan(value) else repr(value + 0.0) for value in values]
        most = max(words, key=words.count)
        found += [(step, rank) for rank, word in enumerate(words) if word != most]
        with np.errstate(invalid="ignore"):
            total = float(np.sum(own[step]))
        near = abs(float(most) - total) <= 1e-12 * float(np.sum(sizes[step]))
        if math.isfinite(total) and not near:
            found.append((step, None))
    return found


def _reference(inputs: Values, case: Case) -> Values:
    arrived, left, own, sizes, result, least = inputs.values()
    return {
        "result": {
            "slow": slow_ranks(arrived, left, least),
            "corrupt": corrupt_ranks(own, sizes, result),
        }
    }


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found = got["result"]
    right = isinstance(found, dict) and set(found) == {"slow", "corrupt"}
    return None if right else "wrong-form"


def _call(inputs: Values) -> str:
    steps, ranks = inputs["arrived"].shape
    return f"find_the_faulty_rank(arrays of {steps} steps and {ranks} ranks, {inputs['least']:g})"


FIND_THE_FAULTY_RANK = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"fleet": k}, k == 0) for k, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a fleet drawn at random", {"fleet": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
)
