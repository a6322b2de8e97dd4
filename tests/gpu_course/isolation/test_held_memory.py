"""Memory an answer cannot hide: headers that reach for the meter, before every costly mistake.

They are a long series: `make test` draws a third of them.
"""

from __future__ import annotations

import os
import sys

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.python import check as python_check
from gpu_course.grading.python.answers import PythonAnswer, python_mistake
from gpu_course.isolation import processes
from gpu_course.puzzle import Mistake, PythonPuzzle, index
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.gpu_course.isolation.hidden_memory import ANSWERS, WAYS, hiding
from tests.gpu_course.isolation.meter_attacks import ATTACKS

pytestmark = pytest.mark.long(27)

needs_the_kernel = pytest.mark.skipif(
    sys.platform != "linux", reason="no other kernel keeps another process within a limit"
)

COSTLY = [
    (puzzle, mistake)
    for puzzle in index.puzzles()
    if isinstance(puzzle, PythonPuzzle)
    for mistake in puzzle.mistakes
    if mistake.reason == "over-budget" and puzzle.ranks is None
]

SELF_CHECKED = {
    ("accumulate", "clears_before_the_first_part"),
    ("accumulate", "the_rest_in_the_last_part"),
    ("checkpoint", "keeps_a_copy"),
    ("split_backward", "runs_each_layer_twice"),
    ("bias_balance", "expert_by_expert"),
    ("bias_balance", "counts_in_python"),
    ("limit_nodes", "token_by_token"),
    ("limit_nodes", "counts_in_python"),
    ("top_k_route", "token_by_token"),
    ("top_k_route", "counts_in_python"),
}
"""Mistakes that no kernel tells from a right answer. The memory that some set free first is what
they take again, or the rest they hold at one time is too few rows; of others the operations are
counted. Only the count inside the process tells them, so their budget is a self-check."""

SAMPLE = int(os.environ.get("GPU_COURSE_ATTACKS", "1"))
"""So many attacks on each mistake; they take turns. All of them are tried by hand now and then."""


def attacked() -> list[tuple[PythonPuzzle, Mistake, str]]:
    """Mistakes with an attack each, so that every attack and every mistake comes up."""
    names = list(ATTACKS)
    return [
        (puzzle, mistake, names[(number * 7 + turn) % len(names)])
        for number, (puzzle, mistake) in enumerate(COSTLY)
        for turn in range(min(SAMPLE, len(names)))
    ]


def test_there_is_much_to_try() -> None:
    assert len(COSTLY) >= 50
    assert len(ATTACKS) >= 20
    assert {attack for _, _, attack in attacked()} == set(ATTACKS)
    assert {(p.short_name, m.function) for p, m in COSTLY} > SELF_CHECKED


@needs_the_kernel
@pytest.mark.series(1 / 3)
@pytest.mark.parametrize(
    ("puzzle", "mistake", "attack"),
    attacked(),
    ids=lambda value: (
        value if isinstance(value, str) else getattr(value, "short_name", "") or value.function
    ),
)
def test_a_costly_mistake_does_not_pass_by_reaching_for_the_meter(
    puzzle: PythonPuzzle, mistake: Mistake, attack: str
) -> None:
    wrong = python_mistake(puzzle, mistake, SOLUTIONS)
    text = ATTACKS[attack].replace("FUNCTION", puzzle.functions[0])
    header, _, footer = text.partition("ANSWER\n")
    answer = PythonAnswer(f"{header}\n{wrong.text}\n{footer}", wrong.file)
    verdict = python_check.verdict_on(puzzle, answer, 0)
    if verdict.passed:
        assert (puzzle.short_name, mistake.function) in SELF_CHECKED, verdict.message
        assert verdict.evidence["self-check"] == puzzle.self_check != ""
    else:
        assert verdict.status in ("failed", "timeout"), (verdict.status, verdict.message)


@needs_the_kernel
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("puzzle", ANSWERS)
def test_what_is_put_away_is_counted(puzzle: str, way: str) -> None:
    verdict = check(puzzle, answer=hiding(puzzle, way), seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget"), verdict.message
    assert "a large case takes more than" in verdict.message


@needs_the_kernel
@pytest.mark.parametrize("puzzle", ANSWERS)
def test_an_answer_that_puts_nothing_away_passes_under_the_same_head(puzzle: str) -> None:
    head = hiding(puzzle, "pages of code, and room made by modules that are thrown away")
    right = (SOLUTIONS / f"{index.find(puzzle).name}.py").read_text(encoding="utf-8")
    verdict = check(puzzle, answer=f"{head}\n{right}", seed=0)
    assert verdict.passed, verdict.message


@needs_the_kernel
def test_where_the_peak_cannot_be_begun_anew_an_earlier_one_is_held_against_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "begin_peak", lambda pid: None)
    # Its second large case comes after one that takes more.
    assert check("shared_layers", answer=SOLUTIONS, seed=0).passed
    verdict = check("k_directions", answer=hiding("k_directions", "pages of code"), seed=0)
    assert verdict.reason == "over-budget"
