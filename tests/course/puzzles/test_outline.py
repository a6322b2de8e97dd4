"""The plan of the course agrees with the lessons that are here."""

from __future__ import annotations

from gpu_course.puzzle import index, outline


def test_there_are_34_lessons_in_five_parts_after_the_start() -> None:
    assert [each.number for each in outline.COURSE] == [f"{n:02}" for n in range(34)]
    assert [each.part for each in outline.COURSE] == sorted(each.part for each in outline.COURSE)
    sizes = [sum(each.part == part for each in outline.COURSE) for part in range(6)]
    assert sizes == [1, 9, 6, 5, 9, 4] and len(outline.PARTS) == 6


def test_a_lesson_that_is_here_has_its_planned_title_and_part() -> None:
    plan = {each.number: each for each in outline.COURSE}
    for lesson in index.lessons():
        planned = plan[lesson.name[:2]]
        assert (lesson.title, lesson.part) == (planned.title, planned.part)


def test_each_lesson_is_here_or_to_come_and_never_both() -> None:
    here = [lesson.name[:2] for part in range(6) for lesson in outline.lessons_of(part)]
    coming = [each.number for part in range(6) for each in outline.to_come(part)]
    assert sorted(here + coming) == [each.number for each in outline.COURSE]
    assert "" in {outline.to_come_text(part) for part in range(6)}
