"""Random kernels run compiled as they run by the interpreter, whole and with a line missing.

Many more of them, once: `python -m benchmarks.both_ways random`, and `... generators`.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from simt.compiled import jit, run
from tests.sampling import EVERYTHING, draw_seed
from tests.simt.compiled import generators, random_kernels
from tests.simt.compiled.both_ways import HAZARD, SAME, Seen, both_ways

pytestmark = [
    pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with"),
    pytest.mark.long(25),
]
MANY = 1000 if EVERYTHING else 160
HARD = 100 if EVERYTHING else 8
"""So many are compiled as hard as for anybody, which takes twenty times as long."""


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "LEVEL", 0)


def _run(seeds: range, folder: Path) -> Seen:
    seen = Seen()
    for seed in seeds:
        seen.label = f"seed {seed}"
        # Numba would not compile some of them.
        with contextlib.suppress(Exception), both_ways(seen):
            random_kernels.draw(seed).launch(folder)
    run.forget()
    return seen


@pytest.mark.usefixtures("quickly")
def test_kernels_that_aim_at_compiled_code(tmp_path: Path) -> None:
    first = draw_seed() % 10**9
    seen = _run(range(first, first + MANY), tmp_path)
    assert not seen.wrong, seen.wrong
    assert seen.compiled > MANY // 2, seen.reasons
    assert seen.counts[SAME] > MANY // 4 and seen.counts[HAZARD] > MANY // 16


def test_the_same_compiled_as_hard_as_for_anybody(tmp_path: Path) -> None:
    first = draw_seed() % 10**9 + MANY
    seen = _run(range(first, first + HARD), tmp_path)
    assert not seen.wrong, seen.wrong
    assert seen.compiled > HARD // 4, seen.reasons


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("draw", generators.GENERATORS, ids=lambda draw: draw.__name__)
def test_kernels_that_other_tests_draw(draw: generators.Draw, tmp_path: Path) -> None:
    seen, many = Seen(), 200 if EVERYTHING else 12
    draw(seen, tmp_path, many)
    run.forget()
    assert not seen.wrong, seen.wrong
    assert seen.compiled > many // 8, seen.reasons
