"""What is particular to the puzzles of lesson 33."""

from __future__ import annotations

from gpu_course.puzzle import index


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("33") is index.lesson("across_oceans")
