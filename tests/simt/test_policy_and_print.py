"""What a puzzle forbids and a foreign script may do; and what a kernel prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt.errors import KernelRefused
from simt.report import Report
from simt.simulator import simulate


def launch(tmp_path: Path, body: str, policy: str = "puzzle") -> tuple[Report, np.ndarray]:
    path = tmp_path / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(
        f"from numba import cuda\n@cuda.jit\ndef kernel(out, a):\n    i = cuda.grid(1)\n{lines}"
    )
    out = np.zeros(16)
    report = simulate(f"{path}:kernel", policy=policy)[2, 8](out, np.arange(16.0))
    return report, out


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("out[i] = a[i - 16]", "out-of-bounds"),
        ("out[0] = 1", "race"),
        ("if i % 8 > 3:\n    return\ncuda.syncthreads()", "barrier-divergence"),
    ],
)
def test_a_puzzle_forbids_what_a_script_may_do(body: str, kind: str, tmp_path: Path) -> None:
    strict, _ = launch(tmp_path, body)
    assert [(h.kind, h.severity) for h in strict.hazards] == [(kind, "error")]
    foreign, _ = launch(tmp_path, body, "foreign")
    assert foreign.ok, foreign
    assert {h.severity for h in foreign.hazards} <= {"advice"}


def test_negative_indices_wrap_in_a_script(tmp_path: Path) -> None:
    report, out = launch(tmp_path, "out[i - 16] = a[-1 - i]", "foreign")
    assert [(h.kind, h.severity) for h in report.hazards] == [("out-of-bounds", "advice")]
    np.testing.assert_array_equal(out, np.arange(16.0)[::-1])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("out[i] = a[i - 17]", "out-of-bounds"),
        ("out[0] = i", "race"),
        ("if i % 8 > 3:\n    cuda.syncthreads()", "barrier-divergence"),
    ],
)
def test_real_mistakes_stay_errors_in_a_script(body: str, kind: str, tmp_path: Path) -> None:
    report, _ = launch(tmp_path, body, "foreign")
    errors = [h for h in report.hazards if h.severity == "error"]
    assert [h.kind for h in errors] == [kind]


def test_threads_print_in_their_order(tmp_path: Path) -> None:
    report, _ = launch(tmp_path, "if i % 5 == 0:\n    print('thread', i, a[i] / 4, i > 5)")
    assert report.printed.splitlines() == [
        "thread 0 0.000000 False",
        "thread 5 1.250000 False",
        "thread 10 2.500000 True",
        "thread 15 3.750000 True",
    ]


def test_printing_ends(tmp_path: Path) -> None:
    report, _ = launch(tmp_path, "for k in range(100):\n    print(k)")
    lines = report.printed.splitlines()
    assert len(lines) == 1001
    assert lines[-1] == "... and 600 more lines"


def test_an_array_that_begins_between_two_elements(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, raw):\n"
        "    i = cuda.grid(1)\n    out[i] = raw[0]\n"
    )
    raw = np.zeros(64, np.uint8)
    report = simulate(f"{path}:kernel")[1, 4](raw[2:34].view(np.float32), raw)
    assert "misaligned" in {h.kind for h in report.hazards}
    report = simulate(f"{path}:kernel")[1, 4](raw[4:36].view(np.float32), raw)
    assert "misaligned" not in {h.kind for h in report.hazards}


def test_a_failed_assertion_ends_its_threads_and_says_so(tmp_path: Path) -> None:
    report, out = launch(tmp_path, "assert a[i] < 10, 'too large'\nout[i] = 1")
    assert report.ok
    assert out.tolist() == [1.0] * 10 + [0.0] * 6
    assert report.printed == "AssertionError: 'too large' (line 5, 6 threads end here)\n"


def test_a_barrier_after_a_failed_assertion_misses_threads(tmp_path: Path) -> None:
    report, _ = launch(tmp_path, "assert a[i] < 10\ncuda.syncthreads()")
    assert [h.kind for h in report.hazards] == ["barrier-divergence"]


ONE_OF_EACH = {  # body -> what is said of one
    "b, = n": "int64 cannot be unpacked into 1 name",
    "x = int8(1).view(float64)": "int8(1) has 1 byte, and float64 8",
    "b, c, d = out[:1]": "out holds 1 value along its first axis, and 3 names take them",
    "(b,) = out": "out holds 2 values along its first axis, and 1 name takes them",
    "x = out[:1].reshape(4, 2)[0, 0]": "has 1 cell, and (4, 2) asks for another number",
    "for k in range(0, 5, n - n):\n        out[0] = 1": "0 in 1 of the 1 thread that comes here,",
    "out[4 * i - 4] = 1": "the array has indices 0 to 1",
    "one[4 * i - 4] = 1": "the array has the index 0",
    "assert n > 5, 'small'": "(line 6, 1 thread ends here)",
    "if i < 1:\n        cuda.shfl_sync(3, n, 0)": "names lane 1, and it is not at this line",
    "if i < 1:\n        cuda.shfl_sync(7, n, 0)": "names lanes 1, 2, and they are not at this line",
    "out[9] = 1": "Report(kernel, grid (1, 1, 1), block (1, 1, 1): 1 hazard)",
}


@pytest.mark.parametrize("body", ONE_OF_EACH)
def test_one_of_many_is_told_in_the_singular(body: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda, float64, int8\n\n@cuda.jit\ndef kernel(out, one, n):\n"
        f"    i = cuda.grid(1)\n    {body}\n"
    )
    try:
        threads = 4 if "i < 1" in body or "4 * i" in body else 1  # one alone meets no other
        report = simulate(f"{path}:kernel")[1, threads](np.zeros(2), np.zeros(1), 3)
        said = f"{report}\n{report.printed}"
    except KernelRefused as error:
        said = str(error)
    assert ONE_OF_EACH[body] in " ".join(said.split())


def test_a_kernel_of_one_parameter_takes_one_argument() -> None:
    def kernel(out):
        out[0] = 1

    with pytest.raises(CourseError, match=r"takes 1 argument \(out\) and was launched with 2"):
        simulate(kernel)[1, 1](np.zeros(1), 1)
