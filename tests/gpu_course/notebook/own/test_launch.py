"""A learner's own answer is launched on the visible example and can be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.draw.execution.divergence import walk_of_warp
from gpu_course.errors import CourseError
from gpu_course.grading.workspace import stub_text
from gpu_course.notebook.own.launch import record_answer

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "solutions" / "02_warps"


def walked(answer: object) -> list[tuple[bool, ...]]:
    made = record_answer("even_odd_uniform", answer=answer)
    return [tuple(each.parted for each in walk_of_warp(made, warp)) for warp in (0, 1)]


def test_the_walk_of_the_solution_parts_nowhere_and_that_of_the_plain_kernel_does() -> None:
    assert not any(map(any, walked(FOLDER / "even_odd_uniform.py")))
    plain = f"{FOLDER / 'mistakes' / 'even_odd_uniform.py'}:asked_the_cell"
    assert [sum(each) for each in walked(plain)] == [1, 1]


def test_what_cannot_be_launched_is_told(tmp_path: Path) -> None:
    stub = tmp_path / "even_odd_uniform.py"
    stub.write_text(stub_text("01_threads/guard"), encoding="utf-8")
    with pytest.raises(CourseError):
        record_answer("even_odd_uniform", answer=stub)
    with pytest.raises(CourseError, match="no threads to draw"):
        record_answer("occupancy")
