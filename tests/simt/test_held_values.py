"""What a name can hold beside numbers and arrays: places, dtypes, functions; and what a launch or a
call may leave out."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
from numba import cuda, float32, float64, types

from gpu_course.errors import CourseError
from simt.errors import KernelRefused
from simt.simulator import simulate

SIX = 6


def places(out):
    t, b = cuda.threadIdx, cuda.blockIdx
    dim = cuda.blockDim
    out[b.x * dim.x + t.x] = 10 * b.x + t.x


def test_a_place_is_held_by_a_name() -> None:
    out = np.zeros(8)
    assert simulate(places)[2, 4](out).ok
    assert out.tolist() == [0, 1, 2, 3, 10, 11, 12, 13]


def adds_a_place(out):
    t = cuda.threadIdx
    out[0] = t + 1


def test_a_place_without_its_part_is_told() -> None:
    with pytest.raises(KernelRefused, match=r"t, which is cuda\.threadIdx, is no"):
        simulate(adds_a_place)[1, 1](np.zeros(1))


@cuda.jit(device=True)
def as_type(kind, x):
    return kind(x)


def dtypes(out, kind):
    held = float32
    out[0] = as_type(float32, 0.1)
    out[1] = as_type(np.float64, 0.1)
    out[2] = held(0.1)
    out[3] = kind(0.1)


@pytest.mark.parametrize("kind", [np.float32, float32, np.dtype(np.float32), types.float32])
def test_a_dtype_is_held_by_a_name_and_handed_over(kind: object) -> None:
    out = np.zeros(4)
    assert simulate(dtypes)[1, 1](out, kind).ok
    small = float(np.float32(0.1))
    assert out.tolist() == [small, 0.1, small, small]


@cuda.jit(device=True)
def plus_one(x):
    return x + 1


@cuda.jit(device=True)
def times_two(x):
    return 2 * x


def calls(out, function):
    out[cuda.grid(1)] = function(cuda.grid(1))


def test_a_device_function_is_an_argument_of_a_kernel() -> None:
    simulation, out = simulate(calls), np.zeros(4)
    for function, expected in ((plus_one, [1, 2, 3, 4]), (times_two, [0, 2, 4, 6])):
        assert simulation[1, 4](out, function).ok
        assert out.tolist() == expected


@cuda.jit(device=True)
def update(function, cells, at, value):
    function(cells, at, value)


def held_atomics(cells):
    update(cuda.atomic.add, cells, 0, 1)
    update(cuda.atomic.max, cells, 1, cuda.grid(1))


def plain_adds(cells):
    cells[0] += 1


def test_a_function_of_cuda_is_held_by_a_name() -> None:
    cells = np.zeros(2, np.int64)
    report = simulate(held_atomics)[2, 32](cells)
    assert report.ok
    assert cells.tolist() == [64, 63]
    assert report.counters.atomic_updates == 128
    assert not simulate(plain_adds)[2, 32](cells).ok


@cuda.jit(device=True)
def summed(count, kind, x):
    own = cuda.local.array(count, kind)
    for k in range(own.size):
        own[k] = x
    total = 0.0
    for k in range(own.size):
        total += own[k]
    return total


@cuda.jit(device=True)
def cells_of(shape):
    return cuda.local.array(shape, float64).size


def shapes(out):
    three = 3
    out[0] = summed(4, float32, 0.1)
    out[1] = summed(SIX, float64, 0.1)
    out[2] = summed(three, float64, 1.0)
    out[3] = cells_of((2, 3))
    out[4] = cells_of((5, SIX))


def test_a_number_at_a_call_is_a_constant_in_the_shape_of_an_array() -> None:
    out = np.zeros(5)
    assert simulate(shapes)[1, 1](out).ok
    assert np.allclose(out, [4 * np.float32(0.1), 0.6, 3, 6, 30], rtol=1e-12)


def shape_from_an_argument(out, n):
    out[0] = summed(n, float64, 1.0)


def test_an_argument_of_the_launch_is_no_shape() -> None:
    with pytest.raises(KernelRefused, match="its shape must be constant"):
        simulate(shape_from_an_argument)[1, 1](np.zeros(1), 3)


def left_out(out, scale=2.0, other=None):
    i = cuda.grid(1)
    if other is None:
        out[i] = scale
    else:
        out[i] = scale * other[i]


def test_a_launch_may_leave_out_what_has_a_default() -> None:
    simulation, out = simulate(left_out), np.zeros(4)
    for given, expected in (((), 2.0), ((3.0,), 3.0), ((3.0, np.full(4, 5.0)), 15.0)):
        assert simulation[1, 4](out, *given).ok
        assert (out == expected).all()
    assert simulation[1, 4](out, 4.0, None).ok
    assert (out == 4.0).all()
    with pytest.raises(CourseError, match="takes 3 arguments"):
        simulation[1, 4]()


Point = namedtuple("Point", "x y z")


def sums_of_points(out, p):
    q = Point(1, 2, 3)
    for k, part in enumerate(q, len(p) + p[0]):
        out[k] = part + q[1]


def test_a_tuple_of_x_y_and_z_of_one_s_own_is_a_tuple() -> None:
    out = np.zeros(8)
    assert simulate(sums_of_points)[1, 1](out, Point(2, 0, 0)).ok
    assert out.tolist() == [0, 0, 0, 0, 0, 3, 4, 5]


def counts_of_bools(out, start):
    i = cuda.grid(1)
    first = start[i]
    for k, cell in enumerate(range(3), first):
        out[i, cell] = k
    out[i, 3] = cuda.popc(i > 1) + 10 * cuda.ffs(i > 0) + (cuda.brev(i > 0) >> 31)


def test_each_thread_enumerates_from_its_own_start() -> None:
    out, start = np.zeros((4, 4)), np.array([5, -2, 0, 7])
    assert simulate(counts_of_bools)[1, 4](out, start).ok
    assert out[:, :3].tolist() == [[s, s + 1, s + 2] for s in start]
    assert out[:, 3].tolist() == [0, 11, 12, 12]
