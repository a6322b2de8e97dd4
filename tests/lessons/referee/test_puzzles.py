"""What is particular to the puzzles of lesson 31."""

from __future__ import annotations

from gpu_course.puzzle import index


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("31") is index.lesson("referee")
