"""The two sides of a transposition: drawn as the simulator counts them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from gpu_course.draw.execution.sectors import Request, request_of_warp
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.coalescing.pictures import draw_sides
from tests.gpu_course.draw.readable import assert_readable


@cuda.jit
def turn(out, a):
    x, y = cuda.grid(2)
    out[x, y] = a[y, x]


def test_both_sides_are_drawn_with_the_sectors_they_touch() -> None:
    a = np.zeros((16, 32), np.float32)
    report = simulate(turn)[1, (32, 16)](np.zeros((32, 16), np.float32), a)
    load = request_of_warp(report, "a", warp=1)
    store = request_of_warp(report, "out", "write", warp=1)
    figure = draw_sides(load, store, (16, 32))
    assert "4 sectors of the matrix, the store 32 sectors" in alt_text(figure)
    assert_readable(figure)


@pytest.mark.parametrize("shape", [(32, 30), (40, 32)])
def test_a_matrix_that_cannot_be_drawn_is_said(shape: tuple[int, int]) -> None:
    row = Request(tuple(range(0, 128, 4)))
    with pytest.raises(CourseError):
        draw_sides(row, row, shape)
