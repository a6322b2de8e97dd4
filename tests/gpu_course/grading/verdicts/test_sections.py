"""Sections become text: labels in a column, and nothing that moves a cursor."""

from __future__ import annotations

import pytest

from gpu_course.errors import CourseError, KernelRefused
from gpu_course.grading.verdicts.sections import (
    INDENT,
    Section,
    below,
    fact,
    heading,
    of_error,
    of_hazard,
    section,
    text_of,
)
from simt.report import Hazard

LONG = "one word after the other, " * 6


def test_a_section_stands_behind_its_label_and_below_it() -> None:
    said = [*fact("a fact", "more of it"), *section("why", "so"), *section("cells", "0 1", " ^")]
    assert text_of([*said, *below("k = 3"), *heading("advice:")]).splitlines() == [
        "a fact",
        "          more of it",
        "  why:    so",
        "  cells:  0 1",
        "           ^",
        "          k = 3",
        "advice:",
    ]


def test_where_there_is_nothing_to_say_there_is_no_section() -> None:
    assert section("why", "") == section("prints") == []
    (printed,) = section("prints", "", "behind an empty line")
    assert printed.text_lines(None) == ["  prints: ", "          behind an empty line"]


def test_a_fact_breaks_behind_a_clause_and_all_else_where_it_must() -> None:
    (said,) = fact("what is wrong with a cell here; the rest says where that cell is")
    assert said.text_lines(50) == [
        "what is wrong with a cell here;",
        " " * INDENT + "the rest says where that cell is",
    ]
    for each in (*fact(LONG), *section("why", LONG), *section("where", LONG), *below(LONG)):
        lines = each.text_lines(50)
        assert len(lines) > 2 and max(map(len, lines)) <= 50
        assert all(line.startswith(" " * INDENT) for line in lines[1:])
        assert each.text_lines(None) == each.text_lines(29), "too narrow to break anything"
    assert all(line.startswith("one") or line for line in heading(LONG)[0].text_lines(50))


def test_nothing_in_it_moves_a_cursor_or_begins_a_line_of_its_own() -> None:
    (said,) = section("prints", "a\x1b[2J\u202e", "one\ntwo\r\n")
    assert said.lines == ("a[2J", "one", "two")
    assert Section(said.label, said.lines, said.kind) == said


@pytest.mark.parametrize(
    "error",
    [
        CourseError("a fact"),
        CourseError("a fact", "a step"),
        CourseError("a fact\n  rank 0 waits", "a step"),
        KernelRefused("a fact", file="a.py", line=3, text="x = 1", kernel="k", hint="a step"),
        KernelRefused("a fact", file="a.py", line=3),
    ],
)
def test_an_error_says_in_sections_what_it_says_as_text(error: CourseError) -> None:
    assert text_of(of_error(error)) == str(error)


def test_a_hazard_says_in_sections_what_it_says_as_text() -> None:
    details = {"where": "kernel k, a.py:3", "code": "out[i] = a", "who": "all", "try": "less"}
    hazard = Hazard("race", "error", "a fact", "a.py", 3, (), details)
    assert text_of(of_hazard(hazard)) == hazard.text()
    bare = Hazard("illegal-launch", "error", "a fact", "a.py", 3)
    assert text_of(of_hazard(bare)) == bare.text()
