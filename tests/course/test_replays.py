"""Every harmful race among the named mistakes of the course is replayed, with a wrong output.

A long series: `make test` draws one in eight.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.kernel.replaying import replay_answer
from gpu_course.puzzle import KernelPuzzle, Mistake, index
from simt.interleaving.experiment import same
from tests.sampling import share

pytestmark = pytest.mark.long(11)

RACES = [
    (puzzle, mistake)
    for lesson in index.lessons()
    for puzzle in lesson.puzzles
    if isinstance(puzzle, KernelPuzzle)
    for mistake in puzzle.mistakes
    if (mistake.reason, mistake.diagnosis) == ("hazard", "race")
]


@pytest.mark.series(share(10, of=len(RACES)))
@pytest.mark.parametrize(
    ("puzzle", "mistake"), RACES, ids=[f"{p.short_name}-{m.function}" for p, m in RACES]
)
def test_a_race_is_replayed(root: Path, puzzle: KernelPuzzle, mistake: Mistake) -> None:
    answer = mistake_answer(puzzle, mistake, root / "solutions")
    found = replay_answer(puzzle, answer, seed=0)
    hazards = [h for h in check(puzzle, answer=answer, seed=0).hazards if h.kind == "race"]
    if all(hazard.details["same_value"] for hazard in hazards):
        assert not found.found and "several threads write the same value" in found.story
        return
    assert found.recording is not None and found.damage is not None, found.story
    assert not bool(same(found.damage.got, found.damage.wanted))
    lines = found.story.splitlines()
    assert lines[0].startswith("The case: ") and lines[1].startswith("The order: ")
    if found.culprit is not None:
        assert f"in line {found.culprit.at.line}" in found.story


def test_there_are_races_to_replay() -> None:
    assert len(RACES) > 10
