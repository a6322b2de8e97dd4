"""float16 and complex numbers in kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import KernelRefused
from gpu_course.simt.report import Report
from gpu_course.simulator import simulate

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
