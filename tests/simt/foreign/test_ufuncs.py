"""`vectorize` and `guvectorize` for target="cuda", against the same function for the CPU."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt.foreign import cuda
from simt.foreign.launches import Launches
from simt.foreign.ufuncs import CUDAVectorize


@pytest.fixture(autouse=True)
def launches(monkeypatch: pytest.MonkeyPatch) -> Launches:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    return found


SIGNATURES = ["float32(float32, float32)", "float64(float64, float64)"]


def length(a, b):
    return math.sqrt(a * a + b * b)


def test_elements_are_those_of_numba_on_the_cpu(launches: Launches) -> None:
    ours, theirs = cuda.vectorize(SIGNATURES)(length), numba.vectorize(SIGNATURES)(length)
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((3, 1, 4), (5, 4)))
        found = ours(a, b)
        assert (found.shape, found.dtype) == ((3, 5, 4), dtype)
        assert np.allclose(found, theirs(a, b), rtol=1e-6)
    assert launches.ok
    assert ours(np.float32(3), np.float32(4)) == 5
    assert ours(np.zeros((0, 4)), np.zeros(4)).shape == (0, 4)


def test_results_stay_where_their_arguments_are() -> None:
    ours = cuda.vectorize(SIGNATURES)(length)
    on_device = cuda.to_device(np.full(7, 3.0))
    found = ours(on_device, np.full(7, 4.0))
    assert found.copy_to_host().tolist() == [5.0] * 7
    out = cuda.device_array(7)
    assert ours(on_device, 4.0, out=out) is out
    assert out.copy_to_host().tolist() == [5.0] * 7
    held = np.zeros(7)
    ours(np.full(7, 3.0), np.full(7, 4.0), out=held)
    assert held.tolist() == [5.0] * 7


def test_types_are_as_exact_as_numba_s() -> None:
    ours = cuda.vectorize(SIGNATURES)(length)
    with pytest.raises(TypeError, match="no signature takes"):
        ours(np.zeros(3, np.int64), np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="several signatures take"):
        ours(1, 2)
    with pytest.raises(CourseError, match="declares no result"):
        cuda.vectorize(["(float32, float32)"])(length)


@pytest.mark.parametrize("count", [1, 2, 7, 64, 1000])
def test_reduce_puts_all_elements_together(count: int) -> None:
    def plus(a, b):
        return a + b

    values = np.random.default_rng(count).integers(0, 100, count)
    assert cuda.vectorize(["int64(int64, int64)"])(plus).reduce(values) == values.sum()


def test_what_numba_s_own_vectorize_asks_of_a_target() -> None:
    made = CUDAVectorize(length, identity=None, cache=False, targetoptions={})
    made.add("float64(float64, float64)")
    made.disable_compile()
    assert made.build_ufunc()(np.full(2, 3.0), np.full(2, 4.0)).tolist() == [5.0, 5.0]


def products(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def dots(a, b, c):
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    c[0] = total


def shifted(a, by, c):
    for k in range(a.shape[0]):
        c[k] = a[k] + by


@pytest.mark.parametrize(
    ("function", "types", "layout", "shapes"),
    [
        (products, "void(f8[:,:], f8[:,:], f8[:,:])", "(m,n),(n,p)->(m,p)", [(4, 3, 5), (5, 2)]),
        (products, "void(f8[:,:], f8[:,:], f8[:,:])", "(m,n),(n,p)->(m,p)", [(3, 5), (5, 2)]),
        (dots, "void(f8[:], f8[:], f8[:])", "(n),(n)->()", [(6, 1, 4), (3, 4)]),
        (shifted, "void(f8[:], f8, f8[:])", "(n),()->(n)", [(3, 4), (3,)]),
    ],
)
def test_groups_are_those_of_numba_on_the_cpu(function, types, layout, shapes, launches) -> None:
    arrays = [np.random.default_rng(k).standard_normal(shape) for k, shape in enumerate(shapes)]
    ours = cuda.guvectorize([types], layout)(function)
    theirs = numba.guvectorize([types], layout)(function)
    found, expected = ours(*arrays), theirs(*arrays)
    assert found.shape == expected.shape
    assert np.allclose(found, expected, rtol=1e-13)
    assert launches.ok


def test_a_result_may_be_the_last_argument() -> None:
    ours = cuda.guvectorize(["void(f8[:], f8, f8[:])"], "(n),()->(n)")(shifted)
    a = np.arange(5.0)
    ours(a, 2.0, a)
    assert a.tolist() == [2, 3, 4, 5, 6]


def test_layouts_and_dimensions_that_do_not_fit_are_told() -> None:
    with pytest.raises(ValueError, match="is no layout"):
        cuda.guvectorize(["void(f8[:], f8[:])"], "n->n")(shifted)
    with pytest.raises(NameError, match="undefined dimensions of results: m"):
        cuda.guvectorize(["void(f8[:], f8[:])"], "(n)->(m)")(shifted)
    ours = cuda.guvectorize(["void(f8[:], f8[:], f8[:])"], "(n),(n)->()")(dots)
    with pytest.raises(ValueError, match="the dimension n of dots has the lengths 3 and 4"):
        ours(np.zeros(3), np.zeros(4))


def test_a_hazard_in_the_function_is_told_at_its_line(launches: Launches) -> None:
    def beyond(a, c):
        c[0] = a[a.shape[0]]

    cuda.guvectorize(["void(f8[:], f8[:])"], "(n)->()")(beyond)(np.zeros((2, 3)))
    (finding,) = launches.findings
    assert (finding.hazard.kind, finding.kernel) == ("out-of-bounds", "each_beyond")
    assert finding.hazard.details["code"].strip() == "c[0] = a[a.shape[0]]"


def test_groups_take_wider_arrays_of_the_host_as_numba_does() -> None:
    ours = cuda.guvectorize(["void(f4[:], f4[:], f4[:])"], "(n),(n)->()")(dots)
    assert ours(np.full(4, 0.5), np.full(4, 2.0)) == 4
    with pytest.raises(TypeError, match="no signature takes"):
        ours(cuda.to_device(np.full(4, 0.5)), np.full(4, 2.0))
    with pytest.raises(TypeError, match="no signature takes"):
        ours(np.zeros(4, np.int8), np.zeros(4, np.int8))
