"""Puzzle `ddp`: weights from rank 0 at the start, the mean gradient after each backward pass."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.data_parallel import pieces
from gpu_course.lessons.data_parallel.pieces import MIDDLE, NOWHERE, case, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

CASES = (
    case("visible example", 2, visible=True),
    case("2 ranks with different numbers of rows", 2, uneven=True),
    case("3 ranks", 3, layers=2),
    case("3 ranks, a frozen parameter and an unused one", 3, extras=MIDDLE),
    case("3 ranks, 51 kB of parameters on each", 3, hidden=78, layers=2),
    case("1 rank", 1, extras=MIDDLE),
    case("4 ranks, a layer that no rank uses", 4, extras=MIDDLE, beside=NOWHERE),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, hidden = int(rng.choice([2, 4])), int(rng.integers(2, 7))
    return case("sizes drawn at random", ranks, hidden=hidden, layers=2, extras=MIDDLE)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return pieces.inputs(rng, case, same_weights=False)


def _reference(inputs: Values, case: Case) -> Values:
    return pieces.trained(inputs, case, none_counts_as_zero=False)


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    return pieces.counted(got)


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    gradients = 2 * pieces.ring_bytes(ranks_of(case), pieces.gradient_bytes(case))
    weights = pieces.all_weight_bytes(case) if ranks_of(case) > 1 else 0
    return pieces.by_own_lines(got) or pieces.within_booked(got, case, gradients + weights)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    skipped = got.get("failed") == "standstill" and _made_fewer(got, ranks_of(case))
    return "skipped" if skipped else None


def _made_fewer(got: Values, ranks: int) -> bool:
    """Whether a rank never called all_reduce while others did."""
    made = [0] * ranks
    for call in got["wire"]:
        made[call.rank] += call.kind == "all_reduce"
    return min(made) == 0 < max(made)


DDP = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.data_parallel.harness.data_parallel",
    call=lambda inputs: "ddp(model)",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=pieces.TOLERANCE,
    follow=_follow,
    judge=_judge,
    diagnose=_diagnose,
)
