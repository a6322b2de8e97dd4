"""Where a pass leads."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpu_course import check
from gpu_course.grading.verdicts import exports, onward
from gpu_course.grading.verdicts.exports import verdict_html, verdict_text
from gpu_course.grading.verdicts.sections import WIDTH, command_section, text_of
from gpu_course.puzzle import index


@pytest.mark.parametrize("name", [puzzle.name for puzzle in index.puzzles()])
def test_where_to_go_after_a_pass_fits_into_a_verdict(name: str) -> None:
    for said in (onward.onward(name), exports._onward(SimpleNamespace(name=name))):
        assert max(map(len, text_of(said).splitlines())) <= WIDTH


def test_the_next_puzzle_is_named_up_to_the_first_with_a_notebook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [p.short_name for p in onward.next_puzzles("00_start_here/add_ten")] == ["zip_add"]
    assert [p.lesson for p in onward.next_puzzles("01_threads/clip")] == ["02_warps"]
    assert onward.next_puzzles(index.puzzles()[-1].name) == ()
    assert onward.next_puzzles("no_such/puzzle") == ()
    assert text_of(onward.onward("01_threads/guard")).splitlines() == [
        "  more:   `gpu-course diff guard` shows the solution and discusses it",
        "  next:   `gpu-course watch map_2d` (easy, about 7 minutes)",
    ]
    without = ("02_warps", "03_coalescing")
    monkeypatch.setattr(onward, "has_notebook", lambda lesson: lesson.name not in without)
    after_clip = [p.name for p in onward.next_puzzles("01_threads/clip")]
    between = [p.name for p in index.puzzles() if p.lesson in without]
    assert after_clip == [*between, index.lesson("shared_memory").puzzles[0].name]


def test_a_failure_leads_nowhere_else() -> None:
    def guard(out, a, size):
        out[0] = a[0]

    verdict = check("guard", answer=guard, seed=0)
    assert not verdict.passed
    assert "gpu-course-onward" not in verdict_html(verdict)
    assert "diff(" not in verdict_text(verdict)


@pytest.mark.parametrize("name", ["guard", "one_model_every_axis", "vocab_parallel_cross_entropy"])
def test_what_shows_the_solution_fits_70_columns(name: str) -> None:
    for call in (f'diff("{name}")', f"`gpu-course diff {name}`"):
        (said,) = command_section("more", call, onward.DISCUSSED)
        assert " ".join(said.lines) == f"{call} shows the solution and discusses it"
        assert all(len(line) <= 60 for line in said.lines)
