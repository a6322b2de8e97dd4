"""Which named mistake of a kernel puzzle a wrong result comes from: the one that gives the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gpu_course.grading.diagnoses.patterns import close
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.kernel.trial import Given, Trial
from gpu_course.puzzle import KernelPuzzle, room
from simt.errors import KernelRefused
from simt.kernel.source import Kernel


def recognised(
    puzzle: KernelPuzzle, tried: Trial, name: str, order: int, before: Sequence[Given]
) -> str | None:
    """Returns the diagnosis of the mistake that gives the same wrong result; None where none does.

    Each is run on the very case that went wrong, on the same inputs and the same poison. It has to
    leave the same in the output that was found wrong: the same numbers within the tolerance, and
    nothing where nothing was written; and it may be wrong in no other outputs than the answer, and
    in no case before, in which the answer was right. Of those it is the first that agrees in most
    outputs. An installed package has no mistakes, and recognises none.

    Args:
        puzzle: the puzzle.
        tried: the trial with the wrong result.
        name: the output that was found wrong.
        order: which of the orders it was tried in; see `trial.attempt`.
        before: the cases in which the answer was right.
    """
    expected = tried.given.expected
    right = [each for each in expected if trial.is_right(tried, each, puzzle).all()]
    found, most = None, 0
    for mistake in puzzle.mistakes:
        if mistake.reason != "wrong-result":
            continue
        kernels = mistake_answer(puzzle, mistake, room.solutions_folder())
        try:
            other = trial.attempt(tried.given, kernels, order, counted=False)
        except KernelRefused:
            continue
        if not all(trial.is_right(other, each, puzzle).all() for each in right):
            continue
        agreed = [each for each in expected if _same(puzzle, each, tried, other)]
        if name not in agreed:
            continue
        if len(agreed) > most and all(_is_right(puzzle, kernels, given) for given in before):
            found, most = mistake.diagnosis, len(agreed)
        if most == len(expected):
            break
    return found


def _is_right(puzzle: KernelPuzzle, kernels: Mapping[str, Kernel], given: Given) -> bool:
    try:
        tried = trial.attempt(given, kernels, 0, counted=False)
    except KernelRefused:
        return False
    return all(trial.is_right(tried, each, puzzle).all() for each in given.expected)


def _same(puzzle: KernelPuzzle, name: str, one: Trial, other: Trial) -> bool:
    bare = one.poisoned[name]
    held = close(one.got[name], other.got[name], one.given.tolerances[name])
    if name in puzzle.signed_zeros:
        held &= (one.got[name] != 0) | (np.signbit(one.got[name]) == np.signbit(other.got[name]))
    return np.array_equal(bare, other.poisoned[name]) and bool(held[~bare].all())
