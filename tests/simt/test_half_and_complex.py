"""float16 and complex numbers in kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.report import Report
from simt.simulator import simulate

N = 64


def launch(tmp_path: Path, body: str, *arrays: Any) -> Report:
    path = tmp_path / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(
        "import math\nimport numpy as np\nfrom numba import cuda, float16, complex64\n"
        f"@cuda.jit\ndef kernel(out, a, b):\n    i = cuda.grid(1)\n{lines}"
    )
    return simulate(f"{path}:kernel")[2, 32](*arrays)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("out[i] = a[i] * b[i] + a[i]", lambda a, b: a * b + a),
        ("out[i] = a[i] / b[i]", lambda a, b: a / b),
        ("out[i] = abs(-a[i]) + math.sqrt(abs(b[i]))", lambda a, b: abs(a) + np.sqrt(abs(b))),
        ("out[i] = 1.0 if a[i] > b[i] else 0.0", lambda a, b: (a > b).astype(a.dtype)),
        (
            "s = cuda.shared.array(32, float16)\ns[i % 32] = a[i]\nout[i] = s[i % 32]",
            lambda a, b: a,
        ),
    ],
)
def test_half_precision_rounds_after_every_step(line: str, expected: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=N).astype(np.float16) for _ in range(2))
    out = np.zeros(N, np.float16)
    report = launch(tmp_path, line, out, a, b)
    assert report.ok, report
    np.testing.assert_array_equal(out, expected(a, b))
    assert report.counters.float32_operations == report.counters.float64_operations == 0
    assert report.counters.global_store.sectors == 4  # two bytes each


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("out[i] = a[i] * b[i] - a[i]", lambda a, b: a * b - a),
        ("out[i] = a[i] / b[i]", lambda a, b: a / b),
        ("out[i] = complex(a[i].imag, b[i].real)", lambda a, b: a.imag + 1j * b.real),
        ("out[i] = abs(a[i]) + 2j", lambda a, b: abs(a) + 2j),
        ("out[i] = a[i] if a[i] != b[i] else b[i]", lambda a, b: a),
        ("z = 0j\nfor k in range(3):\n    z = z * z + a[i]\nout[i] = z", None),
    ],
)
def test_complex_numbers(dtype: Any, line: str, expected: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    a, b = ((rng.normal(size=N) + 1j * rng.normal(size=N)).astype(dtype) for _ in range(2))
    out = np.zeros(N, dtype)
    report = launch(tmp_path, line, out, a, b)
    assert report.ok, report
    if expected is None:
        z = np.zeros(N, np.complex128)
        for _ in range(3):
            z = z * z + a
    np.testing.assert_allclose(out, z if expected is None else expected(a, b), rtol=1e-6)


def test_a_complex_number_is_two_requests(tmp_path: Path) -> None:
    a = np.ones(N, np.complex64)
    counters = launch(tmp_path, "out[i] = a[i]", a.copy(), a, a).counters
    assert counters.global_load.requests == 4  # two warps, two components
    assert counters.global_load.bytes == N * 8
    assert counters.global_load.sectors == 4 * 8


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("out[i] = a[i] < b[i]", "complex numbers have no order"),
        ("x = float(a[i])", "takes no complex number"),
        ("x = np.float32(a[i])", "takes no complex number"),
        ("x = a[i] % b[i]", "complex64 and complex64"),
        ("cuda.atomic.add(out, i, 1)", "updates 4 or 8 bytes"),
        ("b[i].real = 1", "cannot be assigned to"),
    ],
)
def test_what_complex_numbers_cannot_do(line: str, fact: str, tmp_path: Path) -> None:
    a = np.ones(N, np.complex64)
    with pytest.raises(KernelRefused) as caught:
        launch(tmp_path, line, a.copy(), a, a.copy())
    assert fact in caught.value.fact


def test_a_complex_number_is_not_stored_as_a_real_one(tmp_path: Path) -> None:
    with pytest.raises(KernelRefused, match=r"take \.real or \.imag"):
        launch(tmp_path, "out[i] = a[i]", np.zeros(N), np.ones(N, np.complex64), np.ones(N))


# cuda.fp16

HALVES = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 6e-8, 6e-5, 65504.0, -65504.0, np.inf, -np.inf, np.nan],
    np.float16,
)
OF_ONE_HALF = {
    "hneg": np.negative, "habs": np.abs, "hfloor": np.floor, "hceil": np.ceil, "htrunc": np.trunc,
    "hrint": np.rint, "hsqrt": np.sqrt, "hsin": np.sin, "hcos": np.cos, "hexp": np.exp,
    "hexp2": np.exp2, "hexp10": lambda a: 10.0**a, "hlog": np.log, "hlog2": np.log2,
    "hlog10": np.log10, "hrcp": lambda a: 1 / a, "hrsqrt": lambda a: 1 / np.sqrt(a),
}  # fmt: skip
OF_TWO_HALVES = {
    "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax,
    "hmin": np.fmin, "heq": np.equal, "hne": np.not_equal, "hge": np.greater_equal,
    "hgt": np.greater, "hle": np.less_equal, "hlt": np.less,
}  # fmt: skip


@pytest.mark.parametrize("name", [*OF_ONE_HALF, *OF_TWO_HALVES])
def test_half_precision_by_name(name: str, tmp_path: Path) -> None:
    """Against float64, rounded once."""
    first, second = (v.reshape(-1) for v in np.meshgrid(HALVES, HALVES))
    one = name in OF_ONE_HALF
    call = f"cuda.fp16.{name}(a[j]{'' if one else ', b[j]'})"
    out = np.full(first.size, -3, np.float16)
    body = f"for j in range(i, a.size, 64):\n    if j % 5:\n        out[j] = {call}"
    report = launch(tmp_path, body, out, first, second)
    assert report.ok, report
    assert report.counters.float32_operations == report.counters.float64_operations == 0
    with np.errstate(all="ignore"):
        a, b = first.astype(np.float64), second.astype(np.float64)
        exact: Any = OF_ONE_HALF[name](a) if one else OF_TWO_HALVES[name](a, b)
        expected = exact.astype(np.float16)
    taken = np.arange(first.size) % 5 > 0
    np.testing.assert_array_equal(out[taken], expected[taken])
    assert (out[~taken] == -3).all()


def test_a_fused_half_multiply_is_rounded_once(tmp_path: Path) -> None:
    from fractions import Fraction

    rng = np.random.default_rng(7)
    a, b = (rng.normal(size=N).astype(np.float16) for _ in range(2))
    out = np.zeros(N, np.float16)
    assert launch(tmp_path, "out[i] = cuda.fp16.hfma(a[i], b[i], -a[i] * b[i])", out, a, b).ok
    product = a * b
    exact = [
        float(Fraction(float(x)) * Fraction(float(y)) - Fraction(float(p)))
        for x, y, p in zip(a, b, product, strict=True)
    ]
    np.testing.assert_array_equal(out, np.array(exact).astype(np.float16))
    assert out.any()


def test_half_functions_convert_what_they_are_given(tmp_path: Path) -> None:
    a, out = np.linspace(0, 9, N), np.zeros(N)
    assert launch(tmp_path, "out[i] = cuda.fp16.hadd(a[i], i)", out, a, a).ok
    expected = a.astype(np.float16) + np.arange(N).astype(np.float16)
    np.testing.assert_array_equal(out, expected.astype(np.float64))
