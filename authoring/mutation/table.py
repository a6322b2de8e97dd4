"""What the grader says of every mutant: rejected, or listed as no different from the solution."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from authoring.checkout import read
from authoring.mutation.mutants import Mutant, mutants_of
from authoring.stubs import answer_regions
from gpu_course.errors import CourseError
from gpu_course.grading.check import check
from gpu_course.puzzle import KernelPuzzle, Puzzle

REJECTED = ("failed", "timeout", "not-started")
SEED = 0
PYTHON_KINDS = frozenset(
    "operator operands-swapped operand-dropped operator-dropped comparison and-or half-dropped "
    "half-inverted constant function call-dropped choice-dropped choice-inverted guard-dropped "
    "guard-inverted else-kept else-dropped statement-dropped return-early context-dropped "
    "targets-swapped update-to-store loop-once loop-starts-late loop-ends-early loop-ends-late "
    "index-later index-earlier indices-swapped other-array".split()
)
"""What is changed in a Python answer: each costs a process, so one name for another is left out."""


@dataclass(frozen=True)
class Row:
    """The mutants of one puzzle, by what became of them.

    Attributes:
        puzzle: its full name.
        killed: {name of a mutant: the reason it was rejected with}.
        equivalent: those that pass and are listed as no different.
        survived: those that pass and are not listed: holes of the puzzle.
        mislaid: listed names that no passing mutant carries.
        failed: {name: message} where the grader itself failed.
    """

    puzzle: str
    killed: dict[str, str]
    equivalent: tuple[str, ...]
    survived: tuple[Mutant, ...]
    mislaid: tuple[str, ...]
    failed: dict[str, str]

    @property
    def total(self) -> int:
        """How many mutants there are."""
        return len(self.killed) + len(self.equivalent) + len(self.survived) + len(self.failed)

    @property
    def complete(self) -> bool:
        """True when killed and equivalent are all, and the list of equivalents fits."""
        return not (self.survived or self.mislaid or self.failed)


def chosen(puzzle: Puzzle, solution: str) -> tuple[Mutant, ...]:
    """Returns the mutants a puzzle is held against: all of a kernel's, some of a Python answer's.

    Of a Python solution only lines of an answer are changed: the others are given to the learner,
    and some, such as an empty result for the stub to return, mean nothing once it is answered.

    Args:
        puzzle: the puzzle.
        solution: the text of its solution.
    """
    found = mutants_of(solution)
    if isinstance(puzzle, KernelPuzzle):
        return found
    # A region's lines count from 0, with its markers as the first and the last.
    written = {
        line + 1
        for region in answer_regions(solution, puzzle.name)
        for line in range(region.first, region.last)
    }
    return tuple(
        mutant for mutant in found if mutant.kind in PYTHON_KINDS and mutant.line in written
    )


def row_of(puzzle: Puzzle, root: Path, picks: Callable[[str], bool] = lambda name: True) -> Row:
    """Returns the row of one puzzle: each mutant is written to a file and checked as an answer.

    Args:
        puzzle: the puzzle.
        root: the checkout with solutions/.
        picks: whether a mutant of that name is looked at.

    Raises:
        CourseError: the puzzle has no solution.
    """
    file = root / "solutions" / f"{puzzle.name}.py"
    if not file.is_file():
        raise CourseError(f"{puzzle.name} has no solution", f"write solutions/{puzzle.name}.py")
    killed: dict[str, str] = {}
    failed: dict[str, str] = {}
    passed: list[Mutant] = []
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "puzzles" / f"{puzzle.name}.py"
        answer.parent.mkdir(parents=True)
        for mutant in chosen(puzzle, read(file)):
            if not picks(mutant.name):
                continue
            answer.write_text(mutant.text, encoding="utf-8")
            verdict = check(puzzle, answer=answer, seed=SEED)
            if verdict.passed:
                passed.append(mutant)
            elif verdict.status in REJECTED:
                killed[mutant.name] = verdict.reason or verdict.status
            else:
                failed[mutant.name] = verdict.message
    names = {mutant.name for mutant in passed}
    listed = puzzle.equivalent_mutants
    scored = tuple(name.removesuffix("*") for name in listed if name.endswith(":*"))

    def known(name: str) -> bool:
        return name in listed or name.startswith(scored)

    return Row(
        puzzle.name,
        killed,
        tuple(mutant.name for mutant in passed if known(mutant.name)),
        tuple(mutant for mutant in passed if not known(mutant.name)),
        tuple(
            name for name in listed if name not in names and picks(name) and not name.endswith(":*")
        ),
        failed,
    )
