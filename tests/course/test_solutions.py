"""Every solution passes, alone and in a folder; its pass is what its discussion says of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.kernel import budgets
from gpu_course.grading.verdicts.exports import verdict_html, verdict_text
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import KernelPuzzle, Puzzle, index
from tests.course.discussions import ROOT, blocks, other_answer, solution, tables
from tests.sampling import EVERYTHING, draw_seed

pytestmark = pytest.mark.long(53)

PUZZLES = index.puzzles()
KERNELS = tuple(puzzle for puzzle in PUZZLES if isinstance(puzzle, KernelPuzzle))
WITH_BONUS = tuple(p for p in KERNELS if p.bonus is not None)
KINDS = ("01_threads/", "16_memory_ledger/", "21_collectives/")


@cache
def pass_of(name: str) -> Verdict:
    """Returns the verdict on the solution of a puzzle."""
    return check(name, answer=solution(index.find(name)), seed=draw_seed() % 10**6)


def each(puzzles: Sequence[Puzzle]) -> pytest.MarkDecorator:
    """Runs a test once for each puzzle."""
    return pytest.mark.parametrize("puzzle", puzzles, ids=lambda puzzle: puzzle.name)


@each(PUZZLES)
def test_a_solution_passes(puzzle: Puzzle) -> None:
    """With other sizes than those of seed 0, under which folders of them are graded below."""
    verdict = pass_of(puzzle.name)
    assert verdict.status == "passed", verdict.message
    assert verdict.reason is None
    assert verdict.points == verdict.max_points == puzzle.points
    assert verdict.hazards == ()


def test_the_solutions_as_a_folder_of_answers_all_pass(root: Path) -> None:
    """Kernels, answers in Python and on ranks; each one alone was checked above."""
    puzzles = [p for p in index.puzzles() if EVERYTHING or p.name.startswith(KINDS)]
    verdicts = grade(answers=root / "solutions", seed=0, only=[puzzle.name for puzzle in puzzles])
    assert [verdict.name for verdict in verdicts] == [puzzle.name for puzzle in puzzles]
    assert [verdict.status for verdict in verdicts] == ["passed"] * len(verdicts)


@each(KERNELS)
def test_the_counters_of_a_discussion_are_those_of_the_simulator(
    puzzle: KernelPuzzle, tmp_path: Path
) -> None:
    found = tables(puzzle)
    if not found:
        assert not blocks(puzzle, "python"), "a table compares the other answer with the solution"
        return
    answers = [pass_of(puzzle.name)]
    if blocks(puzzle, "python"):
        answers.append(check(puzzle, answer=other_answer(puzzle, tmp_path), seed=0))
        assert answers[1].passed, answers[1].message
    head = "counter | solution | other" if len(answers) == 2 else "counter | value"
    assert set(found) == {head}
    for path, cells in found[head]:
        counted = [budgets.counter(each.counters, path) for each in answers if each.counters]
        assert cells == [str(number) for number in counted], path


@each(WITH_BONUS)
def test_a_bonus_is_told_and_can_be_reached(puzzle: KernelPuzzle, tmp_path: Path) -> None:
    """The solution or the discussion's other answer meets it, and the other one does not."""
    other = check(puzzle, answer=other_answer(puzzle, tmp_path), seed=0)
    told = [_bonus_line(pass_of(puzzle.name)), _bonus_line(other)]
    assert sorted(text.partition(":")[0] for text in told) == ["met", "not met yet"]


def _bonus_line(verdict: Verdict) -> str:
    (found,) = [each for each in verdict.message.splitlines() if each.startswith("  bonus:")]
    return found.removeprefix("  bonus:").strip()


@each(KERNELS)
def test_a_pass_of_kernels_fits_70_columns_and_shows_a_picture(puzzle: KernelPuzzle) -> None:
    verdict = pass_of(puzzle.name)
    assert verdict.passed, verdict.message
    lines = verdict_text(verdict, 70).splitlines()
    assert max(map(len, lines)) <= 70 and len(lines) <= 24
    labels = [line[:9].strip(" :") for line in lines if line.startswith("  ") and line[2] != " "]
    assert labels[:3] == ["yours", "why", "other"]
    assert labels[-2:] == ["more", "next"]


@each((index.find("guard"), index.find("transpose_padded"), index.find("clip")))
def test_the_page_links_to_the_next_puzzle_that_has_a_notebook(puzzle: KernelPuzzle) -> None:
    page = verdict_html(pass_of(puzzle.name))
    following = {"guard": "map_2d", "transpose_padded": "block_sum", "clip": "warp_and_lane"}
    target = index.find(following[puzzle.short_name])
    assert f'href="{target.lesson}.ipynb#Puzzle:-{target.short_name}"' in page
    assert 'alt="' in page and "base64" in page
    heading = (ROOT / "notebooks" / "source" / f"{target.lesson}.md").read_text(encoding="utf-8")
    assert f"### Puzzle: `{target.short_name}`" in heading
