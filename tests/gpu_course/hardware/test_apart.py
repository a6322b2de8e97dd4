"""Jobs in a process of their own: what fails is told, and the next one finds a fresh process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_course.hardware.apart import Apart

TARGET = "tests.gpu_course.hardware.jobs:run"
SHORT_S = 0.3
"""For what never ends."""
LONG_S = 300.0
"""For what does, on a busy machine too."""


@pytest.fixture
def apart() -> Iterator[Apart]:
    with Apart(TARGET) as apart:
        yield apart


def test_one_process_does_the_jobs_in_turn(apart: Apart) -> None:
    first = apart.run({"do": "nothing", "text": "ä\n"}, LONG_S)
    second = apart.run({"do": "nothing"}, LONG_S)
    assert (first.state, second.state) == ("done", "done")
    assert first.value["given"] == {"do": "nothing", "text": "ä\n"}
    assert second.value["process"] == first.value["process"]
    assert second.value["runs"] == 2


def test_what_a_job_prints_is_no_answer(apart: Apart) -> None:
    assert apart.run({"do": "print"}, LONG_S).value["given"] == {"do": "print"}


FAILURES = {
    "raise": ("error", "ValueError: a fact in two lines", LONG_S),
    "exit": ("crash", "the process ended with status 3: last words", LONG_S),
    "hang": ("hang", "no end after 0.3 s", SHORT_S),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_is_told_and_loses_nothing_else(kind: str, apart: Apart) -> None:
    before = apart.run({"do": "nothing"}, LONG_S)
    state, said, deadline_s = FAILURES[kind]
    outcome = apart.run({"do": kind}, deadline_s)
    assert (outcome.state, outcome.said, outcome.value) == (state, said, None)
    after = apart.run({"do": "nothing"}, LONG_S)
    assert after.state == "done" and after.value["runs"] == 1
    assert after.value["process"] != before.value["process"]


def test_a_process_that_does_not_start_says_why() -> None:
    with Apart("tests.gpu_course.hardware.no_such_jobs:run") as apart:
        outcome = apart.run({"do": "nothing"}, LONG_S)
    assert outcome.state == "crash"
    assert outcome.said.startswith("the process did not start: ")
    assert "No module named 'tests.gpu_course.hardware.no_such_jobs'" in outcome.said
