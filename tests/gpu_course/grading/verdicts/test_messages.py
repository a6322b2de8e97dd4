"""The small table of a verdict: the first wrong cell is in it and marked, whatever it takes."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.grading.verdicts.messages import cells_around
from gpu_course.grading.verdicts.sections import WIDTH, text_of

ROUNDED = np.nextafter(1 / np.arange(3.0, 15.0), 1)
"""Right but for the last digit: told apart, each of them would take 20 columns."""
FAR = np.full(12, -1.2345678901234e-200)


def table(got: np.ndarray, expected: np.ndarray, right: np.ndarray) -> list[str]:
    said = cells_around([("got", got), ("expected", expected)], right)
    return text_of(said).splitlines()


@pytest.mark.parametrize("wrong_at", [0, 1, 2, 3, 5, 11])
@pytest.mark.parametrize("off", [1.0, 1e-9, 1e-15])
def test_the_first_wrong_cell_is_shown_and_marked(wrong_at: int, off: float) -> None:
    expected = 1 / np.arange(3.0, 15.0)
    got = ROUNDED.copy()
    got[wrong_at] = expected[wrong_at] + off
    right = np.arange(12) != wrong_at
    for shape in ((12,), (3, 4), (1, 12)):
        lines = table(got.reshape(shape), expected.reshape(shape), right.reshape(shape))
        head, *_, marks = lines[:4]
        assert marks.count("^") == 1 and max(map(len, lines)) <= WIDTH
        index = np.unravel_index(wrong_at, shape)
        name = str(wrong_at) if len(shape) == 1 else f"[{index[0]}, {index[1]}]"
        assert head.index(name) + len(name) == marks.index("^") + 1, lines


def test_a_cell_that_is_right_but_for_rounding_shows_no_more_digits_than_others() -> None:
    expected, right = 1 / np.arange(3.0, 15.0), np.arange(12) != 2
    lines = table(np.where(right, ROUNDED, 7.0), expected, right)
    assert "0.333333" in lines[1] and "0.333333" in lines[2]
    assert "0.3333333" not in lines[1]


def test_cells_in_front_are_left_out_where_they_leave_no_room() -> None:
    got, right = FAR.copy(), np.arange(12) != 4
    got[4] = np.nextafter(FAR[4], 0)
    lines = table(got, FAR, right)
    assert "^" in lines[3] and max(map(len, lines)) <= WIDTH
