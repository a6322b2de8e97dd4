"""The course's colours stand in one place, each with one meaning."""

from __future__ import annotations

import re
from pathlib import Path

import gpu_course
from gpu_course.draw.paper import palette

PACKAGE = Path(gpu_course.__path__[0])
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")


def test_no_other_file_writes_a_colour() -> None:
    writing = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if COLOUR.search(path.read_text(encoding="utf-8"))
    ]
    assert writing == ["draw/paper/palette.py"]


def test_no_two_meanings_have_one_colour() -> None:
    colours = [
        value
        for name, value in vars(palette).items()
        if name.isupper() and isinstance(value, str) and COLOUR.fullmatch(value)
    ]
    assert len(colours) > 12 and len(set(colours)) == len(colours)
