"""`cuda.libdevice` in a kernel, against Python's `math` and NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numba.cuda.libdevice as numba_s
import numpy as np
import pytest

from simt.foreign import cuda
from simt.foreign.launches import Launches
from simt.vocabulary import libdevice

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


# name of math, where its arguments lie: what no processor's vector instructions may change
ROUNDED = {
    "exp": (-90, 90), "exp2": (-130, 130), "expm1": (-5, 90), "log": (1e-30, 1e30), "tan": (-9, 9),
    "log2": (1e-30, 9), "log10": (1e-30, 9), "log1p": (-0.9, 9), "sin": (-900, 900),
    "cos": (-900, 900), "asin": (-1, 1), "acos": (-1, 1), "atan": (-99, 99), "sinh": (-80, 80),
    "cosh": (-80, 80), "tanh": (-9, 9), "asinh": (-99, 99), "acosh": (1, 99), "atanh": (-0.9, 0.9),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUNDED)
def test_float32_is_python_s_own_value_rounded_once(name: str) -> None:
    """`math` computes one number at a time, without NumPy's vector instructions."""
    low, high = ROUNDED[name]
    x = np.random.default_rng(3).uniform(low, high, 4096).astype(np.float32)
    function, library = getattr(math, name), getattr(cuda.libdevice, f"{name}f")

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        out[0, i], out[1, i] = function(x[i]), library(x[i])

    out = np.zeros((2, x.size), np.float32)
    kernel[4, 1024](out, x)
    with np.errstate(over="ignore"):
        wanted = np.array([function(each) for each in x.tolist()]).astype(np.float32)
    assert out[0].tobytes() == wanted.tobytes() == out[1].tobytes()


def test_powers_and_the_others_in_float32_are_rounded_once_too() -> None:
    draw = np.random.default_rng(5)
    x, y = draw.uniform(0.1, 9, (2, 1024)).astype(np.float32)
    lib = cuda.libdevice

    @cuda.jit
    def kernel(out, x, y):
        i = cuda.grid(1)
        out[0, i], out[1, i], out[2, i] = x[i] ** y[i], math.pow(x[i], y[i]), lib.powf(x[i], y[i])
        out[3, i], out[4, i], out[5, i] = (
            math.atan2(x[i], y[i]),
            np.arctan2(x[i], y[i]),
            np.sin(x[i]),
        )
        sine, cosine = lib.sincosf(x[i])
        out[6, i], out[7, i], out[8, i] = sine, cosine, lib.exp10f(x[i])
        out[9, i], out[10, i] = math.hypot(x[i], y[i]), np.log(x[i])

    out = np.zeros((11, x.size), np.float32)
    kernel[1, 1024](out, x, y)
    wanted = [
        (a**b, a**b, a**b, math.atan2(a, b), math.atan2(a, b), math.sin(a), math.sin(a),
         math.cos(a), 10**a, math.hypot(a, b), math.log(a))
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]  # fmt: skip
    assert out.T.tobytes() == np.array(wanted).astype(np.float32).tobytes()


def test_the_exponent_of_a_number_is_exact() -> None:
    x = np.array([7.9999995, 8, 1e-45, 0, math.inf, -0.75], np.float32)
    out = np.zeros(x.size, np.float32)
    unary("logbf")[1, x.size](out, x)
    assert out.tolist() == [2, 3, -149, -math.inf, math.inf, -1]


def test_what_rounds_once_and_what_rounds_twice() -> None:
    """By exact fractions: the error of a product, and none where both parts are rounded."""
    lib = cuda.libdevice

    @cuda.jit
    def kernel(out, a, b):
        i = cuda.grid(1)
        x = lib.fmul_rn(a[i], b[i])
        out[0, i] = lib.fmaf_rn(a[i], b[i], -x)
        out[1, i] = lib.fsub_rn(lib.fmul_rn(a[i], b[i]), x)
        out[2, i] = lib.fadd_rn(x, a[i])

    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(64).astype(np.float32) for _ in range(2))
    out = np.zeros((3, 64), np.float32)
    kernel[1, 64](out, a, b)
    exact = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    errors = [float(e - Fraction(float(x * y))) for e, x, y in zip(exact, a, b, strict=True)]
    assert out[0].tolist() == errors and any(errors)
    assert not out[1].any()
    assert out[2].tolist() == (a * b + a).tolist()
