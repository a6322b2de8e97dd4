"""torchrun starts a killed run again, and it goes on from its checkpoint. Takes about 20 s."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.failures.restart import Happened, Transcript, launched
from gpu_course.lessons.failures.training import logs

pytestmark = pytest.mark.long(25)

LESSON = Path(__file__).parents[3] / "notebooks" / "source" / "32_failures.md"
TRANSCRIPT = re.compile(r"```text\n( *[-+]\d.*?)```", re.DOTALL)


def _told(transcript: str) -> list[str]:
    """What the ranks told, without seconds; two ranks may tell the same in either order."""
    return sorted(re.sub(r"^ *[-+][\d.]+ s  ", "", line) for line in transcript.splitlines())


def test_torchrun_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    told = launched(tmp_path, ranks=2, steps=12, kill=(1, 8))
    assert told.status == 0, told.said
    killed = told.first(0, "is killed in step 8")
    assert (killed.rank, told.first(1, "goes on").what) == (1, "goes on with step 6")
    # The other rank learns of it from the wire, in the step that it cannot end.
    assert told.first(0, "fails: its peer is gone").rank == 0
    assert told.back_s > 0
    # What the lesson shows of a recorded run is what this one tells, but for the seconds.
    (shown,) = TRANSCRIPT.findall(LESSON.read_text(encoding="utf-8"))
    assert _told(str(told)) == _told(shown)
    found = logs(tmp_path)
    for rank in range(2):
        steps = [(each.attempt, each.step) for each in found if each.rank == rank]
        assert steps == [*((0, n) for n in range(8)), *((1, n) for n in range(6, 12))]
    # Steps that were done again had the same rows, and the same loss to the last bit.
    for one, two in itertools.combinations(found, 2):
        if (one.rank, one.step) == (two.rank, two.step):
            assert (one.loss, one.rows) == (two.loss, two.rows)


def test_a_transcript_counts_from_the_kill() -> None:
    events = (
        Happened(10.0, 0, 1, "is killed in step 8"),
        Happened(17.0, 1, 0, "goes on with step 6"),
        Happened(17.5, 1, 0, "has done step 6"),
    )
    told = Transcript(events, 0, "words")
    assert told.back_s == 7.5
    assert str(told).splitlines()[0] == "  +0.00 s  attempt 0  rank 1 is killed in step 8"
    with pytest.raises(CourseError, match="no rank told 'fails' in attempt 1"):
        told.first(1, "fails")
