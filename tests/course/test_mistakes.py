"""Every named mistake ends as the catalogue says, and the learner is told what it says.

Each in every run. Under a second seed too in `make test-all`; `make test` draws a part of those.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from authoring.stubs import answer_lines
from gpu_course.grading.check import check
from gpu_course.grading.diagnoses.sentences import (
    OF_TEXT,
    RAISED,
    sentence_of,
    sentence_of_raised,
)
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.puzzle import KernelPuzzle, Mistake, Puzzle, PythonPuzzle, index
from tests.sampling import drawn, share

pytestmark = pytest.mark.long(217)

PUZZLES = pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)
MISTAKES = [
    pytest.param(puzzle, mistake, id=f"{puzzle.name}-{mistake.function}")
    for puzzle in index.puzzles()
    for mistake in puzzle.mistakes
]


AGAIN = share(80, of=len(MISTAKES))
AGAIN_ON_RANKS = AGAIN / 3
"""The parts that are tried under the second seed; ranks take processor time for each process."""
DRAWN_CASE = "draws the same case"
"""What a verdict says under `again` where the case that was drawn at random is wrong."""


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("puzzle", "mistake"), MISTAKES)
def test_a_mistake_ends_with_its_reason_and_its_diagnosis(
    puzzle: Puzzle, mistake: Mistake, root: Path
) -> None:
    answer = mistake_answer(puzzle, mistake, root / "solutions")
    on_ranks = isinstance(puzzle, PythonPuzzle) and puzzle.ranks is not None
    again = drawn(f"{puzzle.name} {mistake.function}", AGAIN_ON_RANKS if on_ranks else AGAIN)
    seeds = (0, 1) if again else (0,)
    for seed in seeds:
        verdict = check(puzzle.name, answer=answer, seed=seed)
        assert verdict.status == "failed", verdict.message
        assert verdict.points == 0
        # Under another seed nothing else may catch it.
        assert DRAWN_CASE not in verdict.message, verdict.message
        assert verdict.reason == mistake.reason, verdict.message
        passed_over = verdict.evidence.get("passed over")
        assert verdict.diagnosis == mistake.diagnosis, f"{verdict.message}\n{passed_over}"
        said = in_one_line(verdict.message)
        assert any(in_one_line(each) in said for each in sentences(puzzle, mistake.diagnosis))
        assert_it_reads_well(verdict.message)


def sentences(puzzle: Puzzle, diagnosis: str) -> list[str]:
    """What may be said on a diagnosis: its sentence, or what a budget of the puzzle teaches."""
    if diagnosis == "over-budget" and isinstance(puzzle, KernelPuzzle):
        return [budget.lesson for budget in puzzle.budgets]
    if diagnosis == "exception":
        of = [(name, part) for names, part, _ in OF_TEXT for name in names.split()]
        told = [sentence_of_raised(puzzle, *each) for each in of]
        return [sentence_of(puzzle, diagnosis), *RAISED.values(), *told]
    # One of the same kind may be told otherwise where it is in another memory.
    elsewhere = [
        text for key, text in puzzle.diagnoses.items() if key.startswith(f"{diagnosis} in ")
    ]
    return [sentence_of(puzzle, diagnosis), *elsewhere]


LABEL = re.compile(r"  ([a-z]+): +\S")
AFTER_THE_REASON = {
    "cells",
    "map",
    "work",
    "cost",
    "again",
    "call",
    "case",
    "hint",
    "also",
    "replay",
}


def assert_it_reads_well(message: str) -> None:
    """70 columns; what is wrong, then why, then numbers; one piece of advice without a number."""
    lines = message.splitlines()
    assert [line for line in lines if len(line) > 70] == []
    assert not lines[0].startswith(" ")
    labels = [found[1] for line in lines if (found := LABEL.match(line))]
    assert labels.count("try") <= 1 and labels.count("why") == 1
    reason = max(labels.index(label) for label in ("why", "try", "think") if label in labels)
    assert not AFTER_THE_REASON & set(labels[: labels.index("why")])
    assert not AFTER_THE_REASON & set(labels[:reason])
    (advice,) = re.findall(r"^  try: +(.*(?:\n {10}.*)*)", message, re.M) or [""]
    assert not re.search(r"[<>=] \d", advice), advice


@PUZZLES
def test_a_puzzle_knows_three_mistakes_or_more(puzzle: Puzzle) -> None:
    assert len({mistake.function for mistake in puzzle.mistakes}) >= 3


@PUZZLES
def test_no_hint_holds_a_line_of_the_answer(puzzle: Puzzle, solutions: dict[str, str]) -> None:
    lines = [line for line in answer_lines(solutions[puzzle.name]) if len(line) > 8]
    assert lines
    for hint in puzzle.hints:
        spaceless = "".join(hint.split())
        assert [line for line in lines if "".join(line.split()) in spaceless] == []
