"""A learner's own answer to a kernel puzzle, run in an order that makes its output wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.diagnoses.patterns import close
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.kernel.trial import Given
from gpu_course.grading.seeds import LISTED_SEED, default_seed
from gpu_course.grading.verdicts.messages import describe
from gpu_course.puzzle import KernelPuzzle, Puzzle, index
from simt.interleaving import Replay, Run, find_replay
from simt.interleaving.search import Told, races_in
from simt.kernel.source import Kernel
from simt.machine.launch import dim3
from simt.machine.observer import Observer
from simt.machine.schedule import Schedule
from simt.report import Dim3


@dataclass(frozen=True)
class _Case:
    """One launch of one case of a puzzle, as an experiment.

    Attributes:
        puzzle, given, kernels: what is tried.
        number: which of the case's launches is run in another order.
    """

    puzzle: KernelPuzzle
    given: Given
    kernels: Mapping[str, Kernel]
    number: int

    def shape(self) -> tuple[Dim3, Dim3]:
        """Returns grid and block of the launch."""
        launch = self.given.launches[self.number]
        return dim3(launch.grid, "grid"), dim3(launch.block, "block")

    def run(
        self,
        schedule: Schedule | None,
        observers: Sequence[Observer] = (),
        *,
        detect_races: bool = False,
    ) -> Run:
        """Returns what all launches leave behind, one of them in another order."""
        launches = self.given.launches
        how: dict[int, dict[str, Any]] = {
            number: {"detect_races": False} for number in range(len(launches))
        }
        how[self.number] = {
            "schedule": schedule,
            "observers": observers,
            "detect_races": detect_races,
        }
        tried = trial.attempt(self.given, self.kernels, 0, how, counted=detect_races)
        finished = len(tried.reports) == len(launches) and all(r.finished for r in tried.reports)
        outputs = {name: tried.got[name] for name in self.given.expected}
        return Run(tried.reports[min(self.number, len(tried.reports) - 1)], outputs, finished)

    def expected(self) -> Mapping[str, np.ndarray]:
        """Returns the reference's outputs."""
        return self.given.expected

    def own_name(self, output: str) -> str | None:
        """Returns what the learner's kernel calls an output; None where it does not take it."""
        launch = self.given.launches[self.number]
        parameters = self.kernels[launch.function].parameters
        pairs = zip(launch.args, parameters, strict=True)
        return next((own for name, own in pairs if name == output), None)

    def right(self, name: str, got: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Returns where an output is right, within its tolerance."""
        return close(got, expected, self.given.tolerances[name])


def replay_answer(
    name: str | Puzzle,
    answer: Any = None,
    *,
    watch: Sequence[str] = (),
    seed: int | None = None,
    told: Told | None = None,
) -> Replay:
    """Returns an order in which an answer's race makes its output wrong, or that none was found.

    The case is the first in which `check` finds a race; where it finds none, the visible example
    is run in orders drawn by chance.

    Args:
        name: of a kernel puzzle, or the puzzle.
        answer: as for `check`; default the learner's own file.
        watch: variables and arrays to show.
        seed: draws the random case, as for `check`.
        told: as for `find_replay`.

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: no kernel puzzle, or an answer that cannot be run.
    """
    puzzle = name if isinstance(name, Puzzle) else index.find(name)
    if not isinstance(puzzle, KernelPuzzle):
        raise CourseError(f"{puzzle.name} has no threads to replay", "name a kernel puzzle")
    try:
        kernels = read_answer(puzzle, answer).kernels
    except AnswerProblem as problem:
        raise problem.error() from None
    first: _Case | None = None
    for given in _cases(puzzle, default_seed() if seed is None else seed):
        first = first or _Case(puzzle, given, kernels, 0)
        for order in range(len(trial.ORDERS)):
            tried = trial.attempt(given, kernels, order)
            racing = [k for k, report in enumerate(tried.reports) if races_in(report)]
            if racing:
                racy = _Case(puzzle, given, kernels, racing[0])
                return _with_case(find_replay(racy, watch, told), given)
    assert first is not None
    return _with_case(find_replay(first, watch, told), first.given)


def _cases(puzzle: KernelPuzzle, seed: int) -> Iterator[Given]:
    """The cases in the order in which `check` tries them."""
    for case in sorted(puzzle.cases, key=lambda case: not case.visible):
        yield trial.prepare(puzzle, case, LISTED_SEED)
    drawn = puzzle.random_case(np.random.default_rng(seed))
    yield trial.prepare(puzzle, drawn, seed)


def _with_case(found: Replay, given: Given) -> Replay:
    return replace(found, story=f"The case: {describe(given.case)}.\n{found.story}")
