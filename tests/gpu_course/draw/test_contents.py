"""What cells hold: as the accesses of a launch tell it, and as pictures write it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, float32

from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.touches.contents import cell_values, is_rounded, short
from gpu_course.draw.touches.picture import Marked, draw_touches, first_steps
from simt.report import Report
from simt.simulator import simulate
from tests.gpu_course.draw.readable import assert_readable, texts


def add_ten(out, a):
    i = cuda.grid(1)
    out[i] = a[i] + 10


def scatter(out, a, index):
    i = cuda.grid(1)
    out[index[i]] = a[i]


def twice(a):
    i = cuda.grid(1)
    a[i] = a[i] + 1
    a[i] = a[i] * 2


def counted(bins, a):
    i = cuda.grid(1)
    cuda.atomic.add(bins, a[i], 1)


def own(out):
    kept = cuda.local.array(2, float32)
    i = cuda.grid(1)
    kept[0] = i
    out[i] = kept[0]


NUMBERS = np.array([3, 1, 4, 1.5, 5, -9, 2.25, 6], np.float32)
INDEX = np.array([5, 0, 3, 7, 1, 2, 5, 4], np.int32)


def added(numbers: np.ndarray = NUMBERS) -> Report:
    return simulate(add_ten)[1, numbers.size](np.zeros_like(numbers), numbers)


def words(figure: Any) -> list[str]:
    return [text.get_text() for text in texts(figure)]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3.0, "3"), (0.25, "0.25"), (-1.5, "-1.5"), (1e6, "1e6"), (np.nan, "nan"), (np.inf, "inf"),
        (-12.625, "-12.6"), (np.float32(0.1), "0.1"), (np.float32(1) / 3, "0.333"), (0.0, "0"),
        (np.int32(-7), "-7"), (99999, "99999"), (123456, "1.23e5"), (1e-7, "1e-7"), (True, "True"),
    ],
)  # fmt: skip
def test_a_number_is_written_short(value: Any, written: str) -> None:
    assert short(value) == written


def test_what_is_written_with_three_digits_is_said_to_be() -> None:
    assert is_rounded(-12.625) and is_rounded(123456) and is_rounded(np.float32(1) / 3)
    assert not any(map(is_rounded, (3, 0.25, np.float32(0.1), 1e6, np.nan)))


@pytest.mark.parametrize(
    ("value", "said"), [(np.bool_(True), "True, False"), (np.complex64(1.5 - 2j), "1.5-2j, 0+0j")]
)
def test_numbers_that_are_no_real_ones_are_drawn_whole(value: Any, said: str) -> None:
    a = np.array([value, 0], type(value))
    report = simulate(scatter)[1, 2](np.zeros_like(a), a, np.arange(2))
    assert f"out holds {said}." in alt_text(draw_touches(report))
    assert not is_rounded(value) and is_rounded(np.complex64(1.2345 + 1j))


def test_cells_hold_what_was_read_and_written() -> None:
    held = cell_values(added())
    assert held == {
        "a": dict(enumerate(NUMBERS.tolist())),
        "out": dict(enumerate((NUMBERS + 10).tolist())),
    }


def test_after_some_steps_a_cell_that_is_read_later_is_known_and_one_that_is_written_is_not() -> (
    None
):
    report = added()
    assert cell_values(report, 0) == {"a": dict(enumerate(NUMBERS.tolist())), "out": {}}
    assert cell_values(report, 2, 3)["out"] == {0: 13, 1: 11, 2: 14}
    assert cell_values(report, 1, 1) == cell_values(report, 0)


def test_a_cell_that_is_read_and_written_holds_what_it_has_by_then() -> None:
    report = simulate(twice)[1, 4](np.arange(4, dtype=np.float32))
    values = [cell_values(report, steps)["a"] for steps in range(5)]
    assert [value[3] for value in values] == [3, 3, 4, 4, 8]


def test_nothing_is_said_of_atomics_of_arrays_of_one_thread_and_of_large_launches() -> None:
    report = simulate(counted)[1, 4](np.zeros(2, np.int32), np.array([0, 1, 1, 0]))
    assert "bins" not in cell_values(report)
    assert set(cell_values(simulate(own)[1, 4](np.zeros(4, np.float32)))) == {"out"}
    large = added(np.arange(65, dtype=np.float32))
    assert all(touch.values is None for touch in large.touches) and cell_values(large) == {}


def test_the_first_picture_shows_the_numbers_and_the_cells_outside_them() -> None:
    figure = draw_touches(added())
    seen = words(figure)
    for value in ("13", "11", "14", "11.5", "15", "12.25", "16", "-9"):
        assert seen.count(value) == 1, value
    # The numbers of the cells of two arrays, of the threads, and the values 1, 3, 4, 5, 6.
    assert [seen.count(str(n)) for n in range(8)] == [3, 5, 3, 4, 4, 4, 4, 3]
    assert "a holds 3, 1, 4, 1.5, 5, -9, 2.25, 6." in alt_text(figure)
    assert_readable(figure)


def test_an_index_array_shows_where_it_points() -> None:
    report = simulate(scatter)[2, 4](np.zeros(8, np.float32), NUMBERS, INDEX)
    figure = draw_touches(report)
    assert "index holds 5, 0, 3, 7, 1, 2, 5, 4." in alt_text(figure)
    assert_readable(figure)


def test_where_a_value_has_no_room_all_cells_have_their_numbers() -> None:
    wide = draw_touches(added(NUMBERS * np.float32(-1.234e-12)))
    assert "-3.7e-12" not in " ".join(words(wide)) and words(wide).count("7") == 3
    many = added(np.arange(40, dtype=np.float32))
    assert "49" not in words(draw_touches(many))


def test_rounded_numbers_are_said_to_be_rounded() -> None:
    said = "numbers are rounded to 3 digits"
    assert said in words(draw_touches(added(NUMBERS / 3)))
    assert said not in words(draw_touches(added()))


def test_cells_can_be_marked() -> None:
    figure = draw_touches(added(), marked=Marked("out", frozenset({2, 5})))
    assert "Wrong: out, cells 2, 5." in alt_text(figure) and "wrong" in words(figure)
    assert_readable(figure)


def test_a_launch_that_is_played_shows_each_value_from_its_step_on() -> None:
    report = added()
    seen = words(draw_touches(first_steps(report, 2, 3), values=cell_values(report, 2, 3)))
    assert "14" in seen and "11.5" not in seen and "2.25" in seen
