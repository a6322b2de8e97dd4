"""Answers of the course run compiled as they run by the interpreter.

All of them, once: `python -m benchmarks.both_ways course`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from simt.compiled import jit, run
from tests.sampling import drawn, share
from tests.simt.compiled import course
from tests.simt.compiled.both_ways import SAME, Seen

pytestmark = [
    pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with"),
    pytest.mark.long(30),
]
FEW = 60
CASES = 3


def test_answers_of_the_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "LEVEL", 0)
    everything = course.everything()
    part = share(FEW, of=len(everything))
    seen, tried = Seen(), 0
    for answer in everything:
        if drawn(f"both ways {answer.puzzle} {answer.name}", part):
            answer.run(tmp_path, seen, CASES)
            run.forget()
            tried += 1
    assert not seen.wrong, seen.wrong
    assert tried > FEW // 2
    assert seen.compiled > seen.launches // 2, seen.reasons
    assert seen.counts[SAME] > seen.launches // 4
