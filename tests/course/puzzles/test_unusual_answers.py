"""Answers that are rarely given: right ones that pass, wrong and lazy ones not.

The wrong ones are right for ordinary numbers: they leave a number out by multiplying with 0, begin
with a number that is not the smallest, or skip zeros. Lazy ones give the right result and cost too
much. What adds up in float64 passes, and is told so.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.grading.verdicts.verdict import Verdict
from tests.course.puzzles.answers import Changes, answers, written

RIGHT, LAZY, IN_FLOAT64 = answers("RIGHT"), answers("LAZY"), answers("IN_FLOAT64")
FOR_ORDINARY_NUMBERS, OTHERWISE_WRONG = answers("FOR_ORDINARY_NUMBERS"), answers("OTHERWISE_WRONG")


def verdict_on(name: str, changes: Changes, tmp_path: Path) -> Verdict:
    return check(name, answer=written(name, changes, tmp_path), seed=0)


@pytest.mark.parametrize(("name", "way"), RIGHT, ids=str)
def test_an_unusual_right_answer_passes(name: str, way: str, tmp_path: Path) -> None:
    verdict = verdict_on(name, RIGHT[name, way], tmp_path)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("name", "way"), FOR_ORDINARY_NUMBERS, ids=str)
def test_an_answer_that_is_right_for_ordinary_numbers_alone_is_refused(
    name: str, way: str, tmp_path: Path
) -> None:
    reason, changes = FOR_ORDINARY_NUMBERS[name, way]
    verdict = verdict_on(name, changes, tmp_path)
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
    assert "infinities" in verdict.message, verdict.message  # the name of the case


@pytest.mark.parametrize(("name", "way"), LAZY, ids=str)
def test_a_lazy_answer_is_refused_for_what_it_costs(name: str, way: str, tmp_path: Path) -> None:
    verdict = verdict_on(name, LAZY[name, way], tmp_path)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget"), verdict.message


@pytest.mark.parametrize(("name", "way"), IN_FLOAT64, ids=str)
def test_a_sum_in_float64_passes_and_is_told_so(name: str, way: str, tmp_path: Path) -> None:
    """Lessons 02 to 04 ask for no float32 sums, so points are not lost on them."""
    verdict = verdict_on(name, IN_FLOAT64[name, way], tmp_path)
    assert verdict.passed, verdict.message
    assert re.search(r"^  also: +[\d,]+ operations.* in\s+float64", verdict.message, re.M | re.S)
    right = verdict_on(name, (), tmp_path)
    assert "float64" not in right.message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), "2,048 passes to read the tile, 64 passes to write it"),
        (
            RIGHT["transpose_tiled", "turned on the way in"],
            "64 passes to read the tile, 2,048 passes to write it",
        ),
        (
            RIGHT["transpose_tiled", "a tile whose rows are one place longer"],
            "64 passes to read the tile, 64 passes to write it",
        ),
    ],
    ids=["on the way out", "on the way in", "padded"],
)
def test_a_transposition_says_how_many_passes_its_own_tile_took(
    changes: Changes, said: str, tmp_path: Path
) -> None:
    verdict = verdict_on("transpose_tiled", changes, tmp_path)
    message = " ".join(verdict.message.split())
    assert verdict.passed and said in message, message
    assert "`transpose_padded`" in message


@pytest.mark.parametrize(("name", "way"), OTHERWISE_WRONG, ids=str)
def test_what_is_said_is_true_of_rarer_ways_to_the_same_mistake(
    name: str, way: str, tmp_path: Path
) -> None:
    diagnosis, changes, words = OTHERWISE_WRONG[name, way]
    verdict = verdict_on(name, changes, tmp_path)
    message = " ".join(verdict.message.split())
    assert (verdict.status, verdict.diagnosis) == ("failed", diagnosis), verdict.message
    assert words in message, verdict.message
