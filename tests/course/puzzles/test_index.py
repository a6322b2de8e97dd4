"""Finding lessons and puzzles by whatever a person types."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_course.errors import CatalogueError, UnknownName
from gpu_course.puzzle import index

ROOMS = Path(index.__file__).parents[1] / "lessons"


def test_lessons_come_in_course_order() -> None:
    names = [lesson.name for lesson in index.lessons()]
    assert names == sorted(names)
    assert names[:2] == ["00_start_here", "01_threads"]


def test_puzzles_come_in_the_order_of_their_lessons() -> None:
    listed = [puzzle.name for lesson in index.lessons() for puzzle in lesson.puzzles]
    assert [puzzle.name for puzzle in index.puzzles()] == listed


def test_each_puzzle_lies_in_a_file_called_like_it() -> None:
    for puzzle in index.puzzles():
        (path,) = ROOMS.glob(f"*/{puzzle.short_name}.py")
        module = importlib.import_module(f"gpu_course.lessons.{path.parent.name}.{path.stem}")
        assert getattr(module, puzzle.short_name.upper()) is puzzle


@pytest.mark.parametrize("name", ["01_threads", "01", "1", "threads", " 01 "])
def test_a_lesson_is_found_by_name_number_or_topic(name: str) -> None:
    assert index.lesson(name).name == "01_threads"


@pytest.mark.parametrize("name", ["01_threads/guard", "guard", "guard.py"])
def test_a_puzzle_is_found_by_full_name_or_last_part(name: str) -> None:
    assert index.find(name).name == "01_threads/guard"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("gaurd", "01_threads/guard"), ("add_tem", "00_start_here/add_ten")],
)
def test_a_slip_of_the_fingers_finds_the_close_name(wrong: str, right: str) -> None:
    with pytest.raises(UnknownName) as caught:
        index.find(wrong)
    assert caught.value.fact == f"no puzzle is called {wrong!r}"
    assert right in caught.value.hint


def test_a_name_like_no_other_points_to_the_list() -> None:
    with pytest.raises(UnknownName, match="gpu-course list"):
        index.find("zzzzzz")
    with pytest.raises(UnknownName, match="no lesson is called '77'"):
        index.lesson("77")
    with pytest.raises(UnknownName, match="did you mean 01_threads"):
        index.lesson("thread")


def test_two_puzzles_with_one_last_part_are_refused() -> None:
    lesson = index.lesson("01")
    twice = replace(lesson, puzzles=lesson.puzzles[:1] * 2)
    with pytest.raises(CatalogueError, match="share their last part"):
        index._reject_clashes((twice,))


def test_a_puzzle_in_the_wrong_lesson_is_refused() -> None:
    moved = replace(index.lesson("01"), puzzles=index.lesson("00").puzzles)
    with pytest.raises(CatalogueError, match="stands in lesson '01_threads'"):
        index._reject_clashes((moved,))
