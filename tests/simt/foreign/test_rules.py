"""What a project's rules cover, and what is no rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.errors import CourseError
from simt.foreign.rules import Rules, read_rules, severities
from simt.report import Hazard

RACE = Hazard("race", "error", "a race", "src/kernels.py", 12, details={"array": "levels"})


def rules(folder: Path, text: str) -> Rules:
    path = folder / "rules.toml"
    path.write_text(text)
    return read_rules(path)


@pytest.mark.parametrize(
    ("which", "covered"),
    [
        ('kernel = "bfs"', True),
        ('kernel = "bf*"', True),
        ('kernel = "dfs"', False),
        ('file = "kernels.py"', True),
        ('file = "src/kernels.py"', True),
        ('file = "els.py"', False),
        ('kind = "race"', True),
        ('kind = "misaligned"', False),
        ("line = 12", True),
        ("line = 13", False),
        ('array = "levels"', True),
        ('array = "level"', False),
        ('kernel = "bfs"\nline = 12\narray = "levels"', True),
        ('kernel = "bfs"\nline = 13', False),
    ],
)
def test_a_suppression_covers_what_it_names(tmp_path: Path, which: str, covered: bool) -> None:
    found = rules(tmp_path, f'[[suppress]]\n{which}\nreason = "known"')
    assert (found.suppression(RACE, "bfs") is not None) == covered


def test_the_first_suppression_gives_the_reason(tmp_path: Path) -> None:
    text = '[[suppress]]\nline = 12\nreason = "one"\n[[suppress]]\nkind = "race"\nreason = "two"'
    found = rules(tmp_path, text).suppression(RACE, "bfs")
    assert found is not None
    assert found.reason == "one"


def test_severities_come_from_the_file_and_the_call_comes_first(tmp_path: Path) -> None:
    found = rules(tmp_path, '[severity]\nrace = "advice"\nmisaligned = "off"')
    assert found.severity_of(RACE) == "advice"
    assert found.with_severities(severities(["race=error"])).severity_of(RACE) == "error"
    assert Rules().severity_of(RACE) == "error"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[suppress", "is no TOML"),
        (f"deep = {'[' * 5000}{']' * 5000}", "is no TOML"),
        ("[other]", "rules.toml holds other"),
        ("severity = 3", "severity is a table"),
        ('[severity]\nrice = "off"', "no kind of hazard is called rice"),
        ('[severity]\nrace = "of"', "race cannot be 'of'"),
        ('[[suppress]]\nkernel = "k"', "suppress 1 lacks a reason"),
        ('[[suppress]]\nkernel = "k"\nreason = " "', "suppress 1 lacks a reason"),
        ('[[suppress]]\nreason = "all"', "suppress 1 lacks what it is about"),
        ('[[suppress]]\nkernel = 3\nreason = "r"', "kernel is 3"),
        ('[[suppress]]\nline = true\nreason = "r"', "line is True"),
        ('[[suppress]]\nkind = "rice"\nreason = "r"', "no kind of hazard is called rice"),
        ('[[suppress]]\ncolour = "red"\nreason = "r"', "suppress 1 holds colour"),
    ],
)
def test_what_is_no_rule_is_told_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(CourseError, match=r"rules\.toml") as caught:
        rules(tmp_path, text)
    assert complaint in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="cannot be read"):
        read_rules(tmp_path / "none.toml")
