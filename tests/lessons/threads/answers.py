"""Answers to lesson 01 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

FOR_ORDINARY_NUMBERS: dict[tuple[str, str], tuple[str, Changes]] = {
    ("gather", "times one, and less itself"): (
        "wrong-result",
        (("a[index[i]]", "a[index[i]] + (a[i % 2] - a[i % 2])"),),
    ),
    ("grid_stride", "skips what is the same"): (
        "wrong-result",
        (("out[i] = a[i] - b[i]", "out[i] = 0 if a[i] == b[i] else a[i] - b[i]"),),
    ),
}
