"""One number for many cells, and `...` in an index: compared with what NumPy does on the host."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float64

from simt.errors import KernelRefused
from simt.simulator import simulate


def fills(out, rows, cube):
    i = cuda.grid(1)
    own = cuda.local.array((2, 3), float64)
    own[:] = i
    own[1] = 7
    own[0, 1:] = 5
    out[i] = own[0, 0] + 10 * own[1, 2] + 100 * own[0, 2]
    rows[i, :] = i
    rows[i, i::2] = -1
    cube[..., i] = i + 0.5


def test_a_slice_takes_one_number_for_all_its_cells() -> None:
    out, rows, cube = np.zeros(4), np.zeros((4, 5), np.float32), np.zeros((2, 3, 4))
    assert simulate(fills)[1, 4](out, rows, cube).ok
    expected = np.repeat(np.arange(4.0)[:, None], 5, 1)
    for i in range(4):
        expected[i, i::2] = -1
    assert np.array_equal(out, np.arange(4) + 570)
    assert np.array_equal(rows, expected)
    assert np.array_equal(cube, np.broadcast_to(np.arange(4) + 0.5, (2, 3, 4)))


def uneven(rows, ends):
    i = cuda.grid(1)
    rows[i, : ends[i]] = 2 * i + 1


@pytest.mark.parametrize("seed", range(5))
def test_each_thread_fills_as_many_cells_as_its_own_slice_has(seed: int) -> None:
    ends = np.random.default_rng(seed).integers(0, 9, 64)
    rows, expected = np.zeros((64, 8), np.int64), np.zeros((64, 8), np.int64)
    for i, end in enumerate(ends):
        expected[i, :end] = 2 * i + 1
    assert simulate(uneven)[2, 32](rows, ends).ok
    assert np.array_equal(rows, expected)


def all_fill_one_row(rows):
    rows[0, :] = cuda.grid(1)


def test_threads_that_fill_the_same_cells_race() -> None:
    report = simulate(all_fill_one_row)[1, 32](np.zeros((2, 3)))
    assert {hazard.kind for hazard in report.hazards} == {"race"}


def fills_beyond(rows):
    rows[cuda.grid(1), :] = 1


def test_a_row_that_is_not_there_is_told() -> None:
    report = simulate(fills_beyond)[1, 4](np.zeros((3, 2)))
    assert [hazard.kind for hazard in report.hazards] == ["out-of-bounds"]


def dots(out, a):
    i = cuda.grid(1)
    row = a[i, ...]
    out[i] = row[1] + a[..., 0][i] + a[...][i, 2]


def test_dots_stand_for_the_axes_that_are_left() -> None:
    a, out = np.random.default_rng(0).standard_normal((4, 3)), np.zeros(4)
    assert simulate(dots)[1, 4](out, a).ok
    assert np.array_equal(out, a[:, 1] + a[:, 0] + a[:, 2])


def cells_from_cells(a, b):
    a[0, :] = b[1]


def complex_into_real(a, z):
    a[:] = z[0]


def test_what_numba_does_not_store_is_refused() -> None:
    with pytest.raises(KernelRefused, match="cells from cells, cannot be used in a kernel"):
        simulate(cells_from_cells)[1, 1](np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(KernelRefused, match="cannot be stored as float64"):
        simulate(complex_into_real)[1, 1](np.zeros(3), np.zeros(3, np.complex128))


def no_dimension(out, a):
    if cuda.grid(1) == 0:
        out[0] = a[()]
        a[()] = 5


def five(a):
    i = cuda.grid(1)
    a[i, 0, 1, 0, 2] = i


def test_arrays_of_no_dimension_and_of_five() -> None:
    out, zero, a = np.zeros(1), np.array(3.0), np.zeros((4, 1, 2, 1, 3))
    assert simulate(no_dimension)[1, 4](out, zero).ok
    assert (out[0], zero[()]) == (3.0, 5.0)
    assert simulate(five)[1, 4](a).ok
    assert np.array_equal(a[:, 0, 1, 0, 2], np.arange(4))
    report = simulate(five)[1, 8](np.zeros((8, 1, 1, 1, 3)))
    assert [hazard.kind for hazard in report.hazards] == ["out-of-bounds"]
