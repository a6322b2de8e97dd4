"""Answers in Python that come close: each is refused for what is wrong with it.

They are right for most numbers. They round, cut, drop what is empty, or count what is equal twice.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course import check
from tests.course.puzzles.answers import answers, written

CLOSE = answers("CLOSE")


@pytest.mark.parametrize("case", CLOSE, ids=": ".join)
def test_a_close_answer_is_refused_for_what_is_wrong_with_it(
    case: tuple[str, str], tmp_path: Path
) -> None:
    reason, changes = CLOSE[case]
    verdict = check(case[0], answer=written(case[0], changes, tmp_path), seed=0)
    assert not verdict.passed
    assert reason in (verdict.reason, verdict.diagnosis)
