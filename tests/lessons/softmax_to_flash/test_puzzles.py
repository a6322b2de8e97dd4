"""What is particular to the puzzles of lesson 13."""

from __future__ import annotations

from gpu_course.puzzle import index


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("13") is index.lesson("softmax_to_flash")
