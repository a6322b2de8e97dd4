"""A schedule that cannot be followed comes back with what its picture shows."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_course.catalog.checkpointing.planning import followed
from gpu_course.catalog.harness import Unusable
from gpu_course.catalog.specification import Case
from gpu_course.grading.exports import verdict_html
from gpu_course.grading.verdict import Verdict
from gpu_course.training.schedules import plans
from gpu_course.training.schedules.chain import uniform
from gpu_course.training.schedules.operations import account, account_until

EARLY = [("save all", 0), ("save all", 1), ("backward", 0), ("backward", 1)]


def shown(pairs: list[Any]) -> dict[str, Any]:
    inputs = {"function": "plan", "stages": 2, "chain": "", "seed": 0}
    with pytest.raises(Unusable) as found:
        followed(inputs, Case("two stages", {}), {"schedule": pairs})
    assert found.value.shown is not None
    return dict(found.value.shown)


def html_of(evidence: dict[str, Any]) -> str:
    verdict = Verdict(
        "17_checkpointing/sqrt_plan",
        "failed",
        "wrong-result",
        0,
        10,
        "it breaks",
        evidence=evidence,
    )
    return verdict_html(verdict)


def test_the_picture_of_a_broken_schedule_says_where_it_breaks() -> None:
    evidence = shown(EARLY)
    assert evidence["got"]["schedule"] == EARLY and len(evidence["got"]["rises"]) == 2
    html = html_of(evidence)
    assert "It breaks at operation 2: operation 2 (backward 0) cannot be done" in html


def test_one_that_ends_too_early_is_drawn() -> None:
    assert "It breaks at operation 2: the schedule ends too early" in html_of(shown(EARLY[:2]))


@pytest.mark.parametrize(
    "got", [None, {}, {"schedule": 3, "rises": 4}, {"schedule": [("fly", "x")], "rises": [1]}]
)
def test_what_cannot_be_drawn_leaves_the_verdict_as_it_is(got: Any) -> None:
    html = html_of({"got": got})
    assert "it breaks" in html and "<img" not in html


def test_a_whole_schedule_rises_as_its_account_says() -> None:
    for length in (1, 2, 9, 16):
        schedule = plans.periodic(length, min(3, length))
        rises, stop = account_until(uniform(length), schedule)
        assert stop is None and rises == account(uniform(length), schedule).rises
