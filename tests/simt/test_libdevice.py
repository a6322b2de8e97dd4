"""`cuda.libdevice` in a kernel, against Python's `math` and NumPy."""

from __future__ import annotations

import math

import numba.cuda.libdevice as numba_s
import numpy as np
import pytest

from gpu_course.foreign import cuda
from gpu_course.foreign.launches import Launches
from gpu_course.simt.vocabulary import libdevice

POINTS = {"acosh": [1.0, 1.5, 3.0], "atanh": [-0.5, 0.0, 0.9]}
PLAIN = [0.25, 0.5, 1.0]
MATH = {"tgamma": "gamma"}


@pytest.fixture(autouse=True)
def launches(monkeypatch: pytest.MonkeyPatch) -> Launches:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    return found


def unary(name: str):
    function = getattr(cuda.libdevice, name)

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = function(x[i])

    return kernel


def test_every_name_is_one_of_numba_s() -> None:
    for path in libdevice.FUNCTIONS:
        assert hasattr(numba_s, path.rpartition(".")[2]), path


NAMES = [n for n in libdevice._MATH if n not in ("atan2", "copysign", "fmod", "hypot", "pow")]


@pytest.mark.parametrize("name", [*NAMES, "tgamma"])
def test_functions_of_one_number(name: str) -> None:
    x = np.array(POINTS.get(name, PLAIN))
    expected = [getattr(math, MATH.get(name, name))(each) for each in x]
    for ending, dtype, close in (("", np.float64, 1e-14), ("f", np.float32, 1e-5)):
        out = np.zeros(3, np.float64)
        unary(name + ending)[1, 3](out, x)
        assert np.allclose(out, expected, rtol=close, atol=close)
        assert np.array_equal(out, out.astype(dtype))


def test_the_others() -> None:
    lib = cuda.libdevice

    @cuda.jit
    def kernel(out):
        out[0] = lib.rsqrtf(4.0)
        out[1] = lib.cbrt(27.0)
        out[2] = lib.exp10(2.0)
        out[3] = lib.round(2.5) + lib.round(-2.5) + lib.rint(2.5)
        out[4] = lib.fma(2.0, 3.0, 4.0)
        sine, cosine = lib.sincos(0.5)
        out[5] = sine - cosine
        out[6] = lib.fast_powf(2.0, 3.0) + lib.fast_fdividef(1.0, 4.0)
        out[7] = lib.saturatef(1.5) + lib.saturatef(-1.0)
        out[8] = lib.fdim(5.0, 3.0) + lib.fdim(3.0, 5.0)
        out[9] = lib.remainder(5.0, 3.0)
        out[10] = lib.normcdf(0.0)
        out[11] = lib.isnand(math.nan) + 2 * lib.isinff(math.inf) + 4 * lib.signbitd(-1.0)
        out[12] = lib.mulhi(1 << 20, 1 << 20) + lib.umulhi(1 << 31, 4)
        out[13] = lib.max(-3, 2) + lib.umin(7, 3) + lib.abs(-4) + lib.popc(-1)
        out[14] = lib.fmod(7.5, 2.0) + lib.atan2(1.0, 1.0) + lib.hypot(3.0, 4.0)

    out = np.zeros(15)
    kernel[1, 1](out)
    expected = [
        0.5, 3, 100, 2, 10, math.sin(0.5) - math.cos(0.5), 8.25, 1, 2, -1, 0.5, 7, 256 + 2,
        2 + 3 + 4 + 32, 1.5 + math.pi / 4 + 5,
    ]  # fmt: skip
    assert np.allclose(out, expected, rtol=1e-14)


def test_halves_are_rounded_away_from_zero_and_products_once() -> None:
    lib = cuda.libdevice

    @cuda.jit
    def kernel(out, x):
        out[0] = lib.round(x[0])
        out[1] = lib.round(x[1])
        out[2] = lib.fma(x[2], x[2], -1.0)
        out[3] = lib.fmaf(x[3], x[3], -1.0)

    x = np.array([0.49999999999999994, -4503599627370497.0, 1 + 2.0**-30, 1 + 2.0**-20])
    out = np.zeros(4)
    kernel[1, 1](out, x)
    assert out.tolist() == [0, x[1], 2.0**-29 + 2.0**-60, 2.0**-19 + 2.0**-40]
