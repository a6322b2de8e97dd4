"""The puzzles of lesson 09 against counts made another way, and against fresh recordings."""

from __future__ import annotations

from gpu_course.puzzle import index


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("09") is index.lesson("profiling")
