"""What a kernel has to do, counted: beside counts by hand, and for the answers of a learner."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading import workspace
from gpu_course.grading.card.large import large_case
from gpu_course.lessons.roofline.work import largest_case, solved_works, work_of
from gpu_course.puzzle import KernelPuzzle, index

SOLUTIONS = Path(__file__).parents[3] / "solutions"


def kernel(name: str) -> KernelPuzzle:
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    return puzzle


def test_an_addition_has_a_flop_for_twelve_bytes() -> None:
    puzzle = kernel("zip_add")
    work = work_of(puzzle, SOLUTIONS / f"{puzzle.name}.py")
    numbers = largest_case(puzzle).sizes["size"]
    assert (work.flop, work.least_bytes) == (numbers, 12 * numbers)
    # Whole sectors: the arrays begin at one, and each ends within one.
    assert 12 * numbers <= work.asked_bytes <= 12 * numbers + 3 * 32
    assert work.best_intensity == pytest.approx(1 / 12)


def test_a_permutation_computes_nothing() -> None:
    puzzle = kernel("block_reverse")
    work = work_of(puzzle, SOLUTIONS / f"{puzzle.name}.py")
    assert work.flop == work.intensity == work.best_intensity == 0
    assert work.least_bytes > 0


def test_a_tile_asks_for_less_and_needs_as_much() -> None:
    """The window of `conv1d` is read over and over without a tile."""
    puzzle = kernel("conv1d")
    work = work_of(puzzle, SOLUTIONS / f"{puzzle.name}.py")
    assert work.least_bytes < work.asked_bytes < 2 * work.least_bytes
    assert work.intensity < work.best_intensity


def test_the_largest_case_has_the_most_bytes() -> None:
    puzzle = kernel("guard")
    sizes = [case.sizes["size"] for case in puzzle.cases]
    assert largest_case(puzzle).sizes["size"] == max(sizes)


def test_only_what_passes_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "puzzles"
    folder.mkdir()
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    assert solved_works() == ()
    for name, right in (("guard", True), ("zip_add", False)):
        full = index.find(name).name
        text = (SOLUTIONS / f"{full}.py").read_text(encoding="utf-8")
        file = folder / f"{full}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text if right else text.replace("+ b[i]", "- b[i]"))
    assert [work.puzzle for work in solved_works()] == ["01_threads/guard"]
    # The second time nothing is checked again: the verdict was kept.
    assert workspace.passes_won() == {"01_threads/guard"}
    assert [work.puzzle for work in solved_works()] == ["01_threads/guard"]


def test_a_case_that_begins_in_the_middle_is_neither_counted_nor_made_larger() -> None:
    puzzle = kernel("scan_lookback")
    assert not all(case.whole for case in puzzle.cases)
    assert all(case.whole != bool(case.sizes.get("held_up")) for case in puzzle.cases)
    assert largest_case(puzzle).whole
    large = large_case(puzzle, 1 << 20)
    assert large is not None and "held_up" not in large.sizes
