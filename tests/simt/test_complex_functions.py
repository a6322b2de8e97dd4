"""`cmath` in a kernel, against Python's own."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numba import cuda, njit

from simt.errors import KernelRefused
from simt.simulator import simulate

NAMES = "exp log log10 sqrt acos asin atan acosh asinh atanh cos sin tan cosh sinh tanh".split()
POINTS = np.array([0.3 + 0.4j, -1.2 + 0.5j, 2 - 3j, -0.7 - 0.1j, 1.5 + 0j, 0.25j])


def kernel_of(name: str):
    function = getattr(cmath, name)

    def kernel(out, z):
        i = cuda.grid(1)
        out[i] = function(z[i])

    return kernel


@pytest.mark.parametrize("name", NAMES)
def test_a_function_of_complex_numbers_is_python_s(name: str) -> None:
    out = np.zeros(POINTS.size, np.complex128)
    assert simulate(kernel_of(name))[1, POINTS.size](out, POINTS).ok
    assert np.allclose(out, [getattr(cmath, name)(z) for z in POINTS], rtol=1e-13)
    small = np.zeros(POINTS.size, np.complex64)
    assert simulate(kernel_of(name))[1, POINTS.size](small, POINTS.astype(np.complex64)).ok
    assert np.allclose(small, out, rtol=1e-5)


EDGES = [0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan]
PAIRS = np.array(list(itertools.product(EDGES, EDGES)))


def powers(out, x, y):
    i = cuda.grid(1)
    out[i] = cmath.exp(complex(x[i], y[i]))


def from_polar(out, x, y):
    i = cuda.grid(1)
    out[i] = cmath.rect(x[i], y[i])


@pytest.mark.parametrize(
    ("kernel", "compiled"),
    [
        (powers, njit(lambda x, y: cmath.exp(complex(x, y)))),
        (from_polar, njit(lambda x, y: cmath.rect(x, y))),
    ],
)
def test_at_zeros_and_infinities_the_value_is_the_one_numba_compiles(
    kernel: Callable[..., None], compiled: Callable[[float, float], complex]
) -> None:
    out = np.empty(len(PAIRS), np.complex128)
    assert simulate(kernel)[1, len(PAIRS)](out, *PAIRS.T.copy()).ok
    expected = np.array([compiled(x, y) for x, y in PAIRS], np.complex128)
    for found, wanted in ((out.real, expected.real), (out.imag, expected.imag)):
        assert np.allclose(found, wanted, equal_nan=True)
        signed = ~np.isnan(wanted)
        assert (np.signbit(found) == np.signbit(wanted))[signed].all()


def others(real, number, z):
    i = cuda.grid(1)
    length, angle = cmath.polar(z[i])
    real[i, 0], real[i, 1], real[i, 2] = length, angle, cmath.phase(z[i])
    number[i, 0], number[i, 1] = cmath.rect(length, angle), cmath.log(z[i], 2)
    number[i, 2] = cmath.sqrt(-4.0) + cmath.pi


def test_lengths_angles_and_logarithms_of_another_base() -> None:
    real, number = np.zeros((6, 3)), np.zeros((6, 3), np.complex128)
    assert simulate(others)[1, 6](real, number, POINTS).ok
    assert np.allclose(real, [(*cmath.polar(z), cmath.phase(z)) for z in POINTS])
    expected = [(z, cmath.log(z, 2), cmath.sqrt(-4.0) + cmath.pi) for z in POINTS]
    assert np.allclose(number, expected)


def asked(out, z):
    i = cuda.grid(1)
    out[i] = cmath.isnan(z[i]) + 2 * cmath.isinf(z[i]) + 4 * cmath.isfinite(z[i])


def test_what_is_asked_of_a_complex_number() -> None:
    z = np.array([1j, complex("nan"), complex("inf"), complex(0, float("-inf"))])
    out = np.zeros(4)
    assert simulate(asked)[1, 4](out, z).ok
    assert out.tolist() == [4, 1, 2, 2]


def two_complex(out):
    out[0] = cmath.rect(1j, 2.0)


def test_a_length_is_real() -> None:
    with pytest.raises(KernelRefused, match="a length and an angle, both real"):
        simulate(two_complex)[1, 1](np.zeros(1, np.complex128))
