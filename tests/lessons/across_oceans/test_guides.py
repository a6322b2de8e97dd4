"""Where lesson 33 leads: each lecture and paper has lessons, a puzzle of theirs, and a question."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.across_oceans import guides
from gpu_course.notebook.note import Note
from gpu_course.puzzle import index


@pytest.mark.parametrize("name", guides.NAMES)
def test_each_item_belongs_to_lessons_and_to_a_puzzle_of_them(name: str) -> None:
    items = guides.guide(name).item
    assert len(items) >= 12
    assert [each.number for each in items] == sorted({each.number for each in items})
    for each in items:
        taught = [index.lesson(number) for number in each.lessons]
        puzzles = {puzzle.short_name for lesson in taught for puzzle in lesson.puzzles}
        assert each.puzzle in puzzles, each.title


def test_answers_are_spread_over_the_letters() -> None:
    for name in guides.NAMES:
        letters = [each.answer for each in guides.guide(name).item]
        assert all(letters.count(letter) < 0.6 * len(letters) for letter in "abc")


@pytest.mark.parametrize("name", guides.NAMES)
def test_what_is_printed_fits_and_gives_no_answer_away(name: str) -> None:
    said = guides.questions(name)
    assert max(map(len, said.splitlines())) <= guides.WIDEST
    assert not any(each.why in said for each in guides.guide(name).item)
    shown = guides.guide(name)
    for text in (repr(shown), shown._repr_html_()):
        assert not any(each.why in text or each.question in text for each in shown.item)
    links = re.findall(r'href="(\d\d_\w+)\.ipynb"', shown._repr_html_())
    assert links and all(link == index.lesson(link[:2]).name for link in links)


@pytest.mark.parametrize("name", guides.NAMES)
def test_right_answers_are_told_from_wrong_ones(name: str) -> None:
    items = guides.guide(name).item
    right = {each.number: each.answer for each in items}
    said = str(guides.checked(name, right))
    assert said.endswith(f"{len(items)} of {len(items)} right, 0 to go")
    wrong = {number: "b" if answer == "a" else "a" for number, answer in right.items()}
    told = str(guides.checked(name, wrong))
    assert told.endswith(f"0 of {len(items)} right, {len(items)} to go")
    assert not any(each.why in told for each in items)
    assert guides.checked(name, {}) == f"0 of {len(items)} right, {len(items)} to go"
    assert max(map(len, f"{said}\n{told}".splitlines())) <= guides.WIDEST


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({99: "a"}, "there is no lecture 99"),
        ({8: "d"}, "answered by 'd'"),
        ({8: "ab"}, "'ab'"),
        ([(8, "a")], "a dict from numbers to letters, and these are [(8, 'a')]"),
        ("a", "these are 'a'"),
        (None, "these are None"),
    ],
)
def test_what_is_no_answer_is_told(answers: Any, says: str) -> None:
    told = guides.checked("watching", answers)
    assert isinstance(told, Note) and says in repr(told)


def test_a_list_that_is_not_there_is_told() -> None:
    with pytest.raises(CourseError, match="there is no list 'listening'"):
        guides.guide("listening")


def chosen(name: str, number: int) -> str:
    """Returns the words of the right choice."""
    item = guides.guide(name).find(number)
    return item.choices["abc".index(item.answer)]


def test_answers_that_are_numbers_are_computed() -> None:
    assert chosen("watching", 2) == str(-(-1000 // 256) * 256 - 1000)
    assert chosen("watching", 8) == str(len({2 * lane * 4 // 32 for lane in range(32)}))
    assert chosen("watching", 9) == str((256).bit_length() - 1)
    assert chosen("watching", 13) == f"{4 / 7.5:.0%}".replace("%", " %")
    assert chosen("reading", 1) == str(round(989e12 / 3.35e12))
    assert chosen("reading", 3) == f"{16 * 7.5 / 64:.1f}"
    assert chosen("reading", 6) == f"{3 / (12 + 3):.0%}".replace("%", " %")
    assert chosen("reading", 11) == f"{54 * 24 / 419:.1f}"
