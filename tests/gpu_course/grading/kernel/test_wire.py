"""A verdict that travels arrives as it was, and nothing but data arrives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading import check
from gpu_course.grading.kernel import wire
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.verdict import Verdict
from gpu_course.puzzle import Case, index

ROOT = Path(__file__).parents[4]


def travelled(verdict: Verdict) -> Verdict:
    there = wire.loads(wire.dumps(verdict))
    assert isinstance(there, Verdict)
    return there


def test_every_kind_of_verdict_travels() -> None:
    puzzle = index.find("block_reverse")
    for mistake in puzzle.mistakes:
        answer = mistake_answer(puzzle, mistake, ROOT / "solutions")
        verdict = check(puzzle, answer=answer, seed=0)
        there = travelled(verdict)
        assert repr(there) == repr(verdict) and there.counters == verdict.counters
        assert there._repr_html_() == verdict._repr_html_()
        for arrived, hazard in zip(there.hazards, verdict.hazards, strict=True):
            np.testing.assert_equal(dict(arrived.details), dict(hazard.details))


@pytest.mark.parametrize(
    "value",
    [
        None, True, -1, 2**70, float("inf"), "\ud800 and a\nline", 1 + 2j, (1, (2, ())), [[], "a"],
        {3: {"x": (1,)}, (0, 1): None}, np.float32(0.1), np.arange(6, dtype=">i2").reshape(2, 3),
        np.zeros((0, 4), np.complex64), np.array(True), np.zeros(2, [("a", "i4"), ("b", "f8")]),
        np.asfortranarray(np.ones((2, 3))), Case("sizes", {"size": 3}, visible=True),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_evidence_arrives_as_it_was(value: Any) -> None:
    verdict = Verdict("a/b", "failed", "crash", 0, 10, "", evidence={"value": value})
    found = travelled(verdict).evidence["value"]
    assert type(found) is type(value)
    np.testing.assert_equal(found, value)
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype and found.shape == value.shape


def test_a_number_that_is_none_arrives_as_none() -> None:
    verdict = Verdict("a/b", "passed", None, 1, 1, "", evidence={"nan": float("nan")})
    assert np.isnan(travelled(verdict).evidence["nan"])


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("pwned",))


@pytest.mark.parametrize("value", [Evil(), print, Evil, np.array([Evil()], object), {1, 2}])
def test_what_is_no_data_is_not_sent(value: Any) -> None:
    verdict = Verdict("a/b", "passed", None, 1, 1, "", evidence={"deep": [{"in": value}]})
    with pytest.raises((TypeError, ValueError)):
        wire.dumps(verdict)


@pytest.mark.parametrize(
    "tree",
    [["object", "Path", {}], ["object", "Popen", {"args": "id"}], ["call", "print"], [], [1], 3],
    ids=repr,
)
def test_a_line_that_asks_for_more_is_no_verdict(tree: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says what it found in its own words
        wire.loads(json.dumps({"verdict": tree}))


def test_an_error_of_the_call_is_raised_here() -> None:
    told = wire.loads(wire.dumps(CourseError("the fact", "the step")))
    assert isinstance(told, CourseError) and (told.fact, told.hint) == ("the fact", "the step")
