"""Hostile answers on several ranks: each comes to its stated end, and leaves nothing behind.

Every costly mistake with every attack is a long series: `make test` draws one pair in 24.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpu_course.grading.check import check
from gpu_course.grading.python.answers import PythonAnswer, python_mistake
from gpu_course.isolation import servers
from gpu_course.puzzle import Mistake, PythonPuzzle, index
from tests.gpu_course.grading.python.hostile.ranks import RANKS, WIRE_ATTACKS, HostileRanks
from tests.gpu_course.grading.ranked_toy import RIGHT, SHIFT, answer
from tests.sampling import drawn, share

pytestmark = [
    pytest.mark.long(51),
    pytest.mark.skipif(
        not servers.available(), reason="ranks are forked, which only Linux does safely"
    ),
]
SOLUTIONS = Path(__file__).parents[5] / "solutions"
WRONG = answer("", then="return x + 1")


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After the test nothing is left: no process, no file, no descriptor, no thread."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    me = psutil.Process()
    # A server that other tests keep, and what it started, is none of this one's business.
    others = {child.pid for child in me.children(recursive=True)}
    # The warm process stays, by design; it is started here so that it counts on both sides.
    assert check(SHIFT, answer=RIGHT, seed=0).passed
    before = (me.num_fds(), threading.active_count(), {child.pid for child in me.children()})
    yield
    family = me.children(recursive=True)
    after = (me.num_fds(), threading.active_count(), {child.pid for child in me.children()})
    assert before == after
    assert {child.pid for child in family} - others <= before[2], "a grandchild is left"
    assert list(tmp_path.iterdir()) == []


FEW = 8
"""Attacks by costly mistakes that a run of the tests tries; each starts ranks."""
EVERY = [
    (puzzle, mistake, attack)
    for puzzle in index.puzzles()
    if isinstance(puzzle, PythonPuzzle) and puzzle.ranks is not None
    for mistake in puzzle.mistakes
    if mistake.reason == "over-budget"
    for attack in WIRE_ATTACKS
]
PART = share(FEW, of=len(EVERY))
COSTLY = [
    (puzzle, mistake, attack)
    for puzzle, mistake, attack in EVERY
    if drawn(f"{puzzle.name} {mistake.function} {attack}", PART)
]


@pytest.mark.parametrize(
    ("puzzle", "mistake", "attack"),
    COSTLY,
    ids=[f"{p.short_name}-{m.function}-{attack}" for p, m, attack in COSTLY],
)
def test_a_costly_mistake_does_not_pass_by_telling_something_else(
    puzzle: PythonPuzzle, mistake: Mistake, attack: str
) -> None:
    wrong = python_mistake(puzzle, mistake, SOLUTIONS)
    text = f"{WIRE_ATTACKS[attack]}\n{wrong.text}"
    verdict = check(puzzle, answer=PythonAnswer(text, wrong.file), seed=0)
    if "own network" not in verdict.evidence["isolation"]:
        pytest.skip("this system has no own network")
    assert verdict.status == "failed", verdict.message


@pytest.mark.parametrize("case", RANKS, ids=lambda case: case.name)
def test_a_hostile_answer_comes_to_its_end(case: HostileRanks, tidy: None) -> None:
    verdict = check(SHIFT, answer=case.text, seed=0)
    if case.needs and case.needs not in verdict.evidence["isolation"]:
        pytest.skip(f"this system has no {case.needs}")
    assert verdict.status == case.status, verdict.message
    assert verdict.reason == case.reason, verdict.message
    if case.diagnosis is not None:
        assert verdict.diagnosis == case.diagnosis, verdict.message
    assert case.says in verdict.message, verdict.message
    assert len(verdict.message) < 10_000
    assert verdict.points == (10 if case.status == "passed" else 0)
    wrong = check(SHIFT, answer=WRONG, seed=0)
    assert (wrong.status, wrong.reason) == ("failed", "wrong-result")
