"""Any text ends in a verdict: random bytes, random programs, real solutions with tokens disturbed.

`GPU_COURSE_FUZZ=20000 pytest tests/gpu_course/grading/kernel/test_fuzz.py` looks that many times
instead of a few.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_course.grading import check
from gpu_course.grading.kernel import trial
from gpu_course.grading.verdicts.facts import REASONS, STATUSES
from gpu_course.puzzle import KernelPuzzle, index
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.kernel.hostile import toys
from tests.gpu_course.grading.kernel.programs import MIXED, TAME, WILD, disturbed, programs
from tests.sampling import examples

EXAMPLES = int(os.environ.get("GPU_COURSE_FUZZ", "0"))
STEPS = 1_500
SOLUTIONS = Path(__file__).parents[4] / "solutions"
KERNELS = [puzzle for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]


def looks(few: int) -> settings:
    return settings(
        max_examples=EXAMPLES or examples(few, few=few // 3),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module", autouse=True)
def _few_steps() -> Iterator[None]:
    """Endless loops are stopped early, so that a thousand of them take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "STEP_BUDGET", STEPS)
        yield


def _plain(puzzle: KernelPuzzle) -> KernelPuzzle:
    """A puzzle in its visible case alone, and without budgets."""
    cases = puzzle.cases[:1] if puzzle.cases[0].visible else puzzle.cases[1:2]
    return replace(puzzle, cases=cases, random_case=lambda rng: cases[0], budgets=())


PUZZLES = tuple(map(_plain, (toy.TOY, toy.TABLE, toys.TURN, toys.COUNT, toys.PASS_ON)))


def ends_in_a_verdict(puzzle: KernelPuzzle, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{puzzle.short_name}.py"
        file.write_bytes(data)
        verdict = check(puzzle, answer=file, seed=0)
        assert list(Path(folder).iterdir()) == [file]
    assert verdict.status in STATUSES and verdict.reason in REASONS
    assert verdict.status not in ("error", "timeout"), verdict.message
    assert (verdict.status == "failed") == (verdict.reason is not None)
    assert verdict.message.strip()
    assert all(line.isprintable() for line in verdict.message.splitlines())


def random_program(data: st.DataObject, expressions: st.SearchStrategy[str]) -> None:
    puzzle = data.draw(st.sampled_from(PUZZLES))
    (function,) = puzzle.functions
    parameters = ("out", "a", "size", "b")[: len(puzzle.parameters[function])]
    text = data.draw(programs(function, parameters, expressions))
    ends_in_a_verdict(puzzle, text.encode())


@looks(80)
@given(st.binary(max_size=300))
def test_bytes(data: bytes) -> None:
    ends_in_a_verdict(PUZZLES[0], data)


@looks(80)
@given(st.text(max_size=200))
def test_text_behind_an_honest_head(text: str) -> None:
    data = f"{toy.HEAD}    i = cuda.grid(1)\n    {text}\n".encode("utf-8", "surrogatepass")
    ends_in_a_verdict(PUZZLES[0], data)


@looks(60)
@given(st.data())
def test_wild_programs(data: st.DataObject) -> None:
    random_program(data, WILD)


@looks(60)
@given(st.data())
def test_mixed_programs(data: st.DataObject) -> None:
    random_program(data, MIXED)


@looks(60)
@given(st.data())
def test_tame_programs(data: st.DataObject) -> None:
    random_program(data, TAME)


@looks(100)
@given(st.data())
def test_solutions_with_their_tokens_disturbed(data: st.DataObject) -> None:
    puzzle = data.draw(st.sampled_from(KERNELS))
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    _, _, code = text.partition('"""\n\n')  # what stands above is the description
    ends_in_a_verdict(_plain(puzzle), data.draw(disturbed(code)).encode())
