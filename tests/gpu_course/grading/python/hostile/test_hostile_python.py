"""Hostile answers in Python: each comes to its stated end, and leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpu_course.grading.check import check
from gpu_course.isolation import landlock, servers
from tests.gpu_course.grading import python_toy as toy
from tests.gpu_course.grading.python.hostile.cases import Hostile
from tests.gpu_course.grading.python.hostile.comparison import COMPARISON
from tests.gpu_course.grading.python.hostile.flow import FLOW
from tests.gpu_course.grading.python.hostile.resources import RESOURCES
from tests.gpu_course.grading.python.hostile.tampering import TAMPERING


def offered() -> set[str]:
    """The layers this machine has, seen without the grader."""
    found = {"limits"} if os.name == "posix" else set()
    status = Path("/proc/self/status")
    if status.is_file() and "Seccomp:" in status.read_text():
        found.add("seccomp")
    return found | ({"landlock"} if landlock.version() else set())


OFFERED = offered()
ALL = (*FLOW, *TAMPERING, *COMPARISON, *RESOURCES)


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After the test nothing is left: no process, no file, no descriptor, no thread."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    me = psutil.Process()
    # A server that other tests keep, and what it started, is none of this one's business.
    others = {child.pid for child in me.children(recursive=True)}
    # The warm process stays, by design; it is started here so that it counts on both sides.
    assert check(toy.COVER, answer=toy.RIGHT, seed=0).passed
    assert check(toy.TENSOR, answer="def scale(a, scale):\n    return a * scale\n").passed
    before = (me.num_fds(), threading.active_count(), {child.pid for child in me.children()})
    yield
    family = me.children(recursive=True)
    after = (me.num_fds(), threading.active_count(), {child.pid for child in me.children()})
    assert before == after
    assert {child.pid for child in family} - others <= before[2], "a grandchild is left"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not servers.available(), reason="there is no forkserver on this system")
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_hostile_answer_comes_to_its_end(case: Hostile, tidy: None) -> None:
    verdict = check(case.puzzle, answer=case.text, seed=0)
    if case.needs and case.needs not in OFFERED:
        # Without the layer it may have its way with its own process, and the verdict says so.
        assert case.needs not in verdict.evidence["isolation"]
    else:
        assert verdict.status == case.status, verdict.message
        assert verdict.reason == case.reason, verdict.message
        assert verdict.diagnosis == case.diagnosis, verdict.message
        assert case.says in verdict.message, verdict.message
    assert len(verdict.message) < 10_000
    assert not any((c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0" for c in verdict.message)
    # The grader is alive, and the next answers get what they deserve.
    right = check(toy.COVER, answer=toy.RIGHT, seed=0)
    plainly_wrong = check(toy.COVER, answer=toy.WRONG, seed=0)
    assert (right.status, right.points) == ("passed", 10)
    assert (plainly_wrong.status, plainly_wrong.reason) == ("failed", "wrong-result")
