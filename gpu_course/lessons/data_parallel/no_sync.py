"""Puzzle `no_sync`: gradients of many microbatches, added up here, exchanged once."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.data_parallel import pieces
from gpu_course.lessons.data_parallel.pieces import MIDDLE, case, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

CASES = (
    case("visible example", 2, parts=3, visible=True),
    case("2 ranks, an error in a pause", 2, parts=2, stops=True),
    case("2 ranks, no pause at all", 2, parts=1),
    case("3 ranks, 2 microbatches", 3, parts=2, layers=2, extras=MIDDLE),
    case("3 ranks, 51 kB of parameters on each", 3, hidden=78, layers=2, parts=4),
    case("1 rank", 1, parts=3),
    case("4 ranks, 2 microbatches", 4, parts=2),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, hidden = int(rng.choice([2, 4])), int(rng.integers(2, 7))
    return case("sizes drawn at random", ranks, hidden=hidden, parts=int(rng.integers(2, 5)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return pieces.inputs(rng, case, same_weights=True)


def _reference(inputs: Values, case: Case) -> Values:
    return pieces.trained(inputs, case, none_counts_as_zero=False)


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    return pieces.counted(got)


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    allowed = 2 * pieces.ring_bytes(ranks_of(case), pieces.gradient_bytes(case))
    return pieces.by_own_lines(got) or pieces.within_booked(got, case, allowed)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows the gradients of the last part by their mean, whoever added them up."""
    if "failed" in got or ranks_of(case) == 1 or not any(got["all_reduces"]):
        return None
    found, right = np.stack(got["gradients"]), np.stack(expected["gradients"])
    return "last-alone" if pieces.alike(np.mean(found[:, 0], axis=0), right[0, 0]) else None


NO_SYNC = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.data_parallel.harness.data_parallel",
    call=lambda inputs: "no_sync(model)",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    tolerance=pieces.TOLERANCE,
    follow=_follow,
    judge=_judge,
)
