"""Warp operations against what NumPy computes for all lanes at once, and their hazards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.report import Report
from simt.simulator import simulate

LANE = np.arange(64) % 32
A = np.random.default_rng(7).integers(-9, 9, 64).astype(np.int32)
ROWS = A.reshape(2, 32)


def launch(tmp_path: Path, body: str, block: int = 64) -> tuple[Report, np.ndarray]:
    path = tmp_path / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, a):\n"
        f"    i = cuda.grid(1)\n    lane = cuda.laneid\n{lines}"
    )
    out = np.full(64, -99, np.int64)
    return simulate(f"{path}:kernel")[1, block](out, A), out


def bits(rows: np.ndarray) -> np.ndarray:
    weights = 1 << np.arange(32, dtype=np.int64)
    return np.repeat((rows * weights).sum(axis=1).astype(np.uint32).view(np.int32), 32)


ALL = "0xFFFFFFFF"
OPERATIONS: dict[str, Any] = {
    f"cuda.shfl_sync({ALL}, a[i], 5)": np.repeat(ROWS[:, 5], 32),
    f"cuda.shfl_sync({ALL}, a[i], 31 - lane)": ROWS[:, ::-1].ravel(),
    f"cuda.shfl_down_sync({ALL}, a[i], 4)": np.hstack([ROWS[:, 4:], ROWS[:, -4:]]).ravel(),
    f"cuda.shfl_up_sync({ALL}, a[i], 3)": np.hstack([ROWS[:, :3], ROWS[:, :-3]]).ravel(),
    f"cuda.shfl_xor_sync({ALL}, a[i], 1)": ROWS.reshape(2, 16, 2)[:, :, ::-1].ravel(),
    f"cuda.ballot_sync({ALL}, a[i] > 0)": bits(ROWS > 0),
    f"cuda.all_sync({ALL}, a[i] > -20)": np.ones(64),
    f"cuda.all_sync({ALL}, i < 40)": np.repeat([1, 0], 32),
    f"cuda.any_sync({ALL}, i == 40)": np.repeat([0, 1], 32),
    f"cuda.eq_sync({ALL}, i < 32)": np.ones(64),
    f"cuda.match_any_sync({ALL}, a[i])": np.concatenate(
        [[bits(row[None] == v)[0] for v in row] for row in ROWS]
    ),
    "cuda.activemask()": np.full(64, 0xFFFFFFFF),
    "cuda.lanemask_lt()": (1 << LANE) - 1,
    "cuda.popc(a[i] & 15)": np.bitwise_count(A & 15),
    "cuda.clz(i)": [32 * 0 + 64 - int(n).bit_length() for n in range(64)],
    "cuda.ffs(i)": [(n & -n).bit_length() for n in range(64)],
    "cuda.brev(cuda.threadIdx.x)": np.array(
        [int(f"{n:032b}"[::-1], 2) for n in range(64)], np.uint32
    ),
    # Numba has it for uint32 and uint64 alone, and of an int64 takes the lower half.
    "cuda.brev(i)": [int(f"{n:032b}"[::-1], 2) for n in range(64)],
    "cuda.selp(a[i] > 0, 1, 2)": np.where(A > 0, 1, 2),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_of_all_lanes(operation: str, tmp_path: Path) -> None:
    report, out = launch(tmp_path, f"out[i] = {operation}")
    assert report.ok, report
    np.testing.assert_array_equal(out, OPERATIONS[operation])


def test_match_all(tmp_path: Path) -> None:
    body = "m, agree = cuda.match_all_sync(0xFFFFFFFF, i // 32 * (a[i] + 20))\nout[i] = agree"
    report, out = launch(tmp_path, body)
    assert report.ok, report
    np.testing.assert_array_equal(out, np.repeat([1, 0], 32))


def test_a_sum_by_shuffles(tmp_path: Path) -> None:
    body = (
        "s = a[i]\nk = 16\nwhile k > 0:\n    s += cuda.shfl_down_sync(0xFFFFFFFF, s, k)\n"
        "    k //= 2\nout[i] = s"
    )
    report, out = launch(tmp_path, body)
    assert report.ok, report
    assert out[::32].tolist() == ROWS.sum(axis=1).tolist()
    assert report.counters.shuffles == 10


def test_half_a_warp_with_a_mask_that_says_so(tmp_path: Path) -> None:
    body = "if lane < 16:\n    out[i] = cuda.shfl_xor_sync(0xFFFF, a[i], 1)"
    report, out = launch(tmp_path, body)
    assert report.ok, report
    np.testing.assert_array_equal(out[:16], A[:16].reshape(8, 2)[:, ::-1].ravel())


def test_a_short_last_warp_may_be_named_whole(tmp_path: Path) -> None:
    report, out = launch(tmp_path, "out[i] = cuda.ballot_sync(0xFFFFFFFF, 1)", block=40)
    assert report.ok, report
    assert out[39] == 0xFF


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (
            "if lane < 16:\n    out[i] = cuda.shfl_sync(0xFFFFFFFF, a[i], 0)",
            "cuda.shfl_sync waits for lanes that are not here",
        ),
        (
            "if lane < 16:\n    out[i] = cuda.shfl_sync(0xFFFF, a[i], 20)",
            "cuda.shfl_sync reads from lane 20, which does not take part",
        ),
        (
            "if lane < 16:\n    out[i] = cuda.shfl_sync(0xFF, a[i], 0)",
            "cuda.shfl_sync is reached by a lane that its mask does not name",
        ),
        (
            "if lane > 3:\n    out[i] = cuda.ballot_sync(0xFFFFFFFF, 1)",
            "cuda.ballot_sync waits for lanes that are not here",
        ),
    ],
)
def test_a_wrong_mask_is_found(body: str, fact: str, tmp_path: Path) -> None:
    report, _ = launch(tmp_path, body)
    assert {h.kind for h in report.hazards} == {"inactive-lane"}
    assert any(h.message.endswith(fact) for h in report.hazards), report


def test_fma_rounds_once(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, a, b, c):\n"
        "    i = cuda.grid(1)\n    out[i] = cuda.fma(a[i], b[i], c[i])\n"
    )
    from fractions import Fraction

    for dtype in (np.float32, np.float64):
        rng = np.random.default_rng(11)
        a, b = (rng.normal(size=512).astype(dtype) for _ in range(2))
        c = -(a * b) * (1 + rng.integers(-2, 3, 512).astype(dtype) * np.finfo(dtype).eps)
        out = np.zeros(512, dtype)
        report = simulate(f"{path}:kernel")[2, 256](out, a, b, c)
        assert report.counters.fma == 512
        for k in range(512):
            exact = Fraction(float(a[k])) * Fraction(float(b[k])) + Fraction(float(c[k]))
            assert abs(Fraction(float(out[k])) - exact) <= abs(exact) * Fraction(
                float(np.finfo(dtype).eps) / 2
            )
