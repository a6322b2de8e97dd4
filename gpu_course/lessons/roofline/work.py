"""What an answer's kernels have to do: FLOP and bytes, counted by the simulator.

The simulator has no cache and no clock. What it counts is what a kernel asks for; the bytes that
must cross the memory bus are fewer, where a cache answers some of it, and never below those of the
arrays themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpu_course.grading.card.large import least_bytes_of
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.kernel.trial import attempt, prepare
from gpu_course.grading.learner import verdict_cache
from gpu_course.puzzle import Case, KernelPuzzle, index
from simt.report import Counters

SECTOR_BYTES = 32


@dataclass(frozen=True)
class Work:
    """What the kernels of an answer do in one case.

    Attributes:
        puzzle: its full name.
        flop: float32 and float64 operations.
        asked_bytes: of all sectors that loads, stores and atomics ask for.
        least_bytes: of the arrays, each input read once and each output written once.
    """

    puzzle: str
    flop: int
    asked_bytes: int
    least_bytes: int

    @property
    def intensity(self) -> float:
        """FLOP for each byte asked for; 0 where nothing is computed."""
        return self.flop / self.asked_bytes if self.asked_bytes else 0.0

    @property
    def best_intensity(self) -> float:
        """FLOP for each byte that has to be moved at least."""
        return self.flop / self.least_bytes if self.least_bytes else 0.0


def asked_bytes(counters: Counters) -> int:
    """Returns the bytes of all sectors of global memory that a launch asks for."""
    kinds = (counters.global_load, counters.global_store, counters.red, counters.atom)
    return SECTOR_BYTES * sum(kind.sectors for kind in kinds)


def flop(counters: Counters) -> int:
    """Returns the floating-point operations of a launch, of either width."""
    return counters.float32_operations + counters.float64_operations


def work_of(puzzle: KernelPuzzle, answer: Any = None) -> Work:
    """Returns what an answer does in the puzzle's largest case.

    Args:
        puzzle: the puzzle.
        answer: default the learner's own; else as for `check`.

    Raises:
        AnswerProblem: there is no answer that can be run.
        KernelRefused: a kernel is refused.
    """
    given = prepare(puzzle, largest_case(puzzle), 0)
    counters = attempt(given, read_answer(puzzle, answer).kernels, 0).counters
    return Work(puzzle.name, flop(counters), asked_bytes(counters), least_bytes_of(given))


def largest_case(puzzle: KernelPuzzle) -> Case:
    """Returns the case with the most bytes of inputs and outputs, of those done from the start."""
    whole = [case for case in puzzle.cases if case.whole]
    return max(whole, key=lambda case: least_bytes_of(prepare(puzzle, case, 0)))


def solved_works() -> tuple[Work, ...]:
    """Returns what the learner's own kernels do, of every puzzle whose answer passes as it is now.

    In course order. An answer is not checked again while nothing that its verdict rests on has
    changed.
    """
    kernels = [puzzle for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]
    return tuple(work_of(puzzle) for puzzle in kernels if _is_solved(puzzle))


def _is_solved(puzzle: KernelPuzzle) -> bool:
    kept = verdict_cache.kept(verdict_cache.key_of(puzzle), puzzle)
    return (kept or verdict_cache.check_own(puzzle)).passed
