"""All answers to the course's kernel puzzles that are kept anywhere, run both ways.

They are the solutions, the named mistakes, and what lessons' tests hold: answers that come close,
are rarely given, or cost too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import mistake_answer, read_answer
from gpu_course.puzzle import KernelPuzzle, index
from tests.course.puzzles.answers import Changes, answers, written
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.costly import costly
from tests.course.puzzles.test_rare_answers import ANSWERS
from tests.simt.compiled.both_ways import Seen, both_ways

TABLES = ("RIGHT", "CLOSE", "FOR_ORDINARY_NUMBERS", "LAZY", "IN_FLOAT64", "OTHERWISE_WRONG")


@dataclass(frozen=True)
class Kept:
    """An answer that is kept.

    Attributes:
        puzzle: the short name of what it answers.
        name: what it is.
        given: folder for a file -> what `read_answer` takes.
    """

    puzzle: str
    name: str
    given: Callable[[Path], Any] = field(repr=False)

    def run(self, folder: Path, seen: Seen, cases: int | None = None) -> None:
        """Runs all launches of its cases both ways, in both orders; or of a few cases."""
        puzzle = index.find(self.puzzle)
        seen.label = f"{self.puzzle}: {self.name}"
        try:
            kernels = read_answer(puzzle, self.given(folder)).kernels
        except Exception as error:
            seen.counts[f"refused {type(error).__name__}"] += 1
            return
        assert isinstance(puzzle, KernelPuzzle)
        with both_ways(seen):
            for case in puzzle.cases[:cases]:
                given = trial.prepare(puzzle, case, 0)
                for order in range(len(trial.ORDERS)):
                    try:
                        trial.attempt(given, kernels, order)
                    except Exception as error:
                        seen.counts[f"refused {type(error).__name__}"] += 1


def kept(puzzle: KernelPuzzle) -> Iterator[Kept]:
    """Yields the answers to a puzzle, its solution first."""
    name = puzzle.short_name
    yield Kept(name, "solution", lambda _: SOLUTIONS)
    for mistake in puzzle.mistakes:
        yield Kept(
            name, mistake.function, lambda _, m=mistake: mistake_answer(puzzle, m, SOLUTIONS)
        )
    for what, changes in _changed(name):
        yield Kept(name, what, lambda folder, c=changes: written(name, c, folder))
    for rare in ANSWERS:
        if rare.puzzle == name:
            yield Kept(name, rare.name, lambda folder, r=rare: _file(folder, name, r.source()))


def everything() -> list[Kept]:
    """Returns all answers to all kernel puzzles."""
    puzzles = (puzzle for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle))
    return [each for puzzle in puzzles for each in kept(puzzle)]


def _changed(name: str) -> Iterator[tuple[str, Changes]]:
    for table in TABLES:
        for (puzzle, what), row in answers(table).items():
            if puzzle == name:
                yield what, _changes(row)
    for (puzzle, counter), changes in costly().items():
        if puzzle == name:
            yield f"costs more {counter}", changes


def _changes(row: Any) -> Changes:
    """The changes of a row, which stand alone or beside what its verdict is."""
    if all(isinstance(pair, tuple) and len(pair) == 2 for pair in row):
        return row  # type: ignore[no-any-return]
    return next(part for part in row if isinstance(part, tuple))  # type: ignore[no-any-return]


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path
