"""Every budget bites: some kernel is right and goes past it.

Most are gone past by a named mistake, or by one of the rare answers. The others are there for
rarer ones, and each is shown one here: the solution with a change that costs more and alters no
result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.grading.kernel import budgets, trial
from gpu_course.grading.kernel.answers import mistake_answer, read_answer
from gpu_course.puzzle import KernelPuzzle, index
from tests.course.puzzles import test_rare_answers
from tests.course.puzzles.answers import written
from tests.course.puzzles.costly import TOPICS, costly
from tests.course.puzzles.rules import SOLUTIONS
from tests.sampling import drawn

COSTLY = costly()
PUZZLES = [
    puzzle
    for puzzle in index.puzzles()
    if isinstance(puzzle, KernelPuzzle) and puzzle.lesson.partition("_")[2] in TOPICS
]
SOME = [each for each in PUZZLES if drawn(f"budgets of {each.name}", 0.1)] or PUZZLES[:1]


def gone_past(puzzle: KernelPuzzle, answer: object, counters: Sequence[str]) -> set[str]:
    """Returns which of these budgets an answer goes past in some case, in which it is right."""
    kernels = read_answer(puzzle, answer).kernels
    found: set[str] = set()
    for case in puzzle.cases:
        tried = trial.attempt(trial.prepare(puzzle, case, 0), kernels, 0)
        for budget in puzzle.budgets:
            if budget.counter in counters and budgets.overrun(
                replace(puzzle, budgets=(budget,)), tried
            ):
                found.add(budget.counter)
        if found == set(counters):
            break
    return found


def test_every_budget_is_gone_past_by_a_mistake_or_by_a_change_listed_here() -> None:
    listed = set(COSTLY)
    known = {(puzzle.short_name, budget.counter) for puzzle in PUZZLES for budget in puzzle.budgets}
    assert listed <= known
    assert len(known) - len(listed) > 50  # these a named mistake or a rare answer goes past


@pytest.mark.parametrize(("name", "counter"), sorted(COSTLY))
def test_a_right_kernel_that_costs_more_is_refused(name: str, counter: str, tmp_path: Path) -> None:
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    answer = written(name, COSTLY[name, counter], tmp_path)
    verdict = check(puzzle, answer=answer, seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget"), verdict.message
    if verdict.evidence["counter"] != counter:  # another budget is told first
        assert gone_past(puzzle, answer, [counter]) == {counter}


@pytest.mark.parametrize("puzzle", SOME, ids=lambda puzzle: puzzle.short_name)
def test_all_other_budgets_are_gone_past_by_rare_answers_and_named_mistakes(
    puzzle: KernelPuzzle, tmp_path: Path
) -> None:
    missing = {b.counter for b in puzzle.budgets if (puzzle.short_name, b.counter) not in COSTLY}
    for answer in test_rare_answers.ANSWERS:
        if answer.puzzle == puzzle.short_name and answer.ends == "over-budget":
            file = tmp_path / f"{answer.puzzle}.py"
            file.write_text(answer.source(), encoding="utf-8")
            missing -= gone_past(puzzle, file, sorted(missing))
    for mistake in puzzle.mistakes:
        if mistake.reason == "over-budget" and missing:
            missing -= gone_past(
                puzzle, mistake_answer(puzzle, mistake, SOLUTIONS), sorted(missing)
            )
    assert missing == set()
