"""What a stub promises of its input, and what holds it.

A promise is a few words of the docstring and what an input is like that holds them. Some hold
because there is such a case, others because every case and every drawn one is like that. Those of a
lesson are `tests/lessons/TOPIC/promises.py`, for all of its Python puzzles or for none.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle import PythonPuzzle
from gpu_course.puzzle.specification import Case, Values
from tests.course.puzzles.by_hand import SOLUTIONS


@dataclass(frozen=True)
class Promise:
    """Words of a docstring, and whether an input of a case holds them.

    Attributes:
        words: as they stand there, with single spaces.
        held: whether an input is of that kind.
        everywhere: True where each input has to be; else one is enough.
        by: for a promise that only the whole puzzle can tell: whether a case takes another answer.
    """

    words: str
    held: Callable[[Values], bool] | None = None
    everywhere: bool = False
    by: Callable[[PythonPuzzle, Case, Values], bool] | None = None

    def holds(self, puzzle: PythonPuzzle, case: Case) -> bool:
        """Whether the input of a case is of the kind that is promised."""
        given = puzzle.inputs(np.random.default_rng(1), case)
        return self.held(given) if self.held else bool(self.by and self.by(puzzle, case, given))


def promises_of(puzzle: PythonPuzzle) -> tuple[Promise, ...]:
    """Returns what a puzzle promises; nothing where its lesson has no file of promises.

    Raises:
        KeyError: the lesson has one, and this puzzle is not in it.
    """
    module = _module(puzzle)
    found: tuple[Promise, ...] = module.PROMISES[puzzle.short_name] if module else ()
    return found


def is_alike(puzzle: PythonPuzzle) -> bool:
    """True for a puzzle whose right answer hardly changes from case to case."""
    return puzzle.short_name in getattr(_module(puzzle), "ALIKE", ())


def _module(puzzle: PythonPuzzle) -> ModuleType | None:
    topic = puzzle.lesson.partition("_")[2]
    if not (SOLUTIONS.parent / f"tests/lessons/{topic}/promises.py").is_file():
        return None
    return importlib.import_module(f"tests.lessons.{topic}.promises")


def docstring(puzzle: PythonPuzzle) -> str:
    """Returns what a stub says above the answer, with single spaces."""
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    return " ".join((ast.get_docstring(ast.parse(text)) or "").split())


def broken(puzzle: PythonPuzzle, said: str, fixed: Sequence[Case], drawn: Sequence[Case]) -> set:
    """Returns the words of all promises that a docstring does not say, or that no case holds."""
    found = set()
    for promise in promises_of(puzzle):
        if promise.everywhere:
            held = all(promise.holds(puzzle, case) for case in (*fixed, *drawn))
        else:
            held = any(promise.holds(puzzle, case) for case in fixed)
        if not held or promise.words not in said:
            found.add(promise.words)
    return found


def everywhere(words: str, held: Callable[[Values], bool]) -> Promise:
    return Promise(words, held, everywhere=True)


def finite(*names: str) -> Callable[[Values], bool]:
    return lambda given: all(bool(np.isfinite(given[name]).all()) for name in names)


def takes_another_schedule(puzzle: PythonPuzzle, case: Case, given: Values) -> bool:
    """Whether a schedule that runs on from the batch, instead of keeping it, is as good.

    The batch is always there, so that is the same plan in other words.
    """
    assert puzzle.follow is not None and puzzle.judge is not None
    scope: dict[str, Any] = {}
    exec((SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8"), scope)
    schedule = scope[puzzle.short_name](*given["arguments"])
    if schedule[0] != ("keep input", 0):
        return False
    both = (schedule, [("forward", 0), *schedule[1:]])
    return all(
        puzzle.judge(given, case, puzzle.follow(given, case, {"schedule": each})) is None
        for each in both
    )


def one_of(name: str, value: Any) -> Callable[[Values], bool]:
    return lambda given: bool(given.get(name) == value)
