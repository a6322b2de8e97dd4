"""Small kernels that each tell one thing: compiled they end as they do by the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from simt.compiled import jit
from tests.simt.compiled.both_ways import HAZARD, SAME, SUSPECT, Seen, both_ways
from tests.simt.compiled.telling import TELLING

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")


def test_small_kernels_end_the_same_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "LEVEL", 0)
    seen = Seen()
    for name, telling in TELLING.items():
        seen.label = name
        with both_ways(seen):
            telling.launch(tmp_path, name)
    assert not seen.wrong, "\n".join(" ".join(each) for each in seen.wrong)
    # Nearly all run compiled: half of them clean, and many with a hazard.
    assert seen.counts[SAME] > 70 and seen.counts[HAZARD] > 25, seen.reasons
    assert seen.counts[SUSPECT] < 6, seen.doubts
